import { nextTurn } from '../async/timers.js';

/**
 * Lets responses and calls reach the host in the order in which they came. A response wakes its caller only after what runs now; a call
 * behind it, whose handler would run at once, has to wait for the next turn of the event loop, and so has all that comes after it.
 */
export class ArrivalOrder {
  #waiting: (() => void)[] = [];
  #hasAnswered = false;
  readonly #pause: () => void;
  readonly #resume: () => void;

  /** @param pause called when something has to wait; `resume` when nothing does any more */
  constructor({ pause, resume }: { readonly pause: () => void; readonly resume: () => void }) {
    this.#pause = pause;
    this.#resume = resume;
  }

  get isHolding(): boolean {
    return this.#waiting.length > 0;
  }

  /** Runs a step at once if that keeps the order. @param wakes it only wakes a caller, as responses do */
  run(step: () => void, { wakes }: { readonly wakes: boolean }): void {
    if (!this.isHolding && (wakes || !this.#hasAnswered)) {
      step();
      return;
    }
    if (this.#waiting.push(step) === 1) this.#pause();
  }

  /** Whether a step can run now without {@link run}. */
  isFree(wakes: boolean): boolean {
    return this.#waiting.length === 0 && (wakes || !this.#hasAnswered);
  }

  /** A caller has just been woken. */
  answered(): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    nextTurn(() => this.#next());
  }

  #next(): void {
    this.#hasAnswered = false;
    if (!this.isHolding) return;
    let next = 0;
    // A step that wakes a caller makes the rest wait for another turn.
    while (next < this.#waiting.length && !this.#hasAnswered) this.#waiting[next++]!();
    this.#waiting = this.#waiting.slice(next);
    if (!this.isHolding) this.#resume();
  }
}
