import { nextTurn } from '../async/timers.js';

/**
 * Delivers responses and calls to the host in the order of their arrival. A response resolves a promise, whose continuation runs after the
 * current code; a handler runs synchronously. Therefore a call after a response waits for the next iteration of the event loop, and so does
 * everything after it.
 */
export class ArrivalOrder {
  #waiting: (() => void)[] = [];
  #hasResolved = false;
  readonly #pause: () => void;
  readonly #resume: () => void;

  /** @param pause called when a step has to wait; `resume` is called when no step waits any more */
  constructor({ pause, resume }: { readonly pause: () => void; readonly resume: () => void }) {
    this.#pause = pause;
    this.#resume = resume;
  }

  /** `true` while a step waits. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Runs a step, now if that preserves the order. @param resolvesOnly `true` if it only resolves promises, as responses do */
  run(step: () => void, { resolvesOnly }: { readonly resolvesOnly: boolean }): void {
    if (!this.isWaiting && (resolvesOnly || !this.#hasResolved)) {
      step();
      return;
    }
    if (this.#waiting.push(step) === 1) this.#pause();
  }

  /** Returns whether a step can run now without {@link run}. */
  isFree(resolvesOnly: boolean): boolean {
    return this.#waiting.length === 0 && (resolvesOnly || !this.#hasResolved);
  }

  /** Records that a promise was just resolved. */
  resolvedCaller(): void {
    if (this.#hasResolved) return;
    this.#hasResolved = true;
    nextTurn(() => this.#next());
  }

  #next(): void {
    this.#hasResolved = false;
    if (!this.isWaiting) return;
    let next = 0;
    // After a step that resolves a promise, the rest waits for another iteration.
    while (next < this.#waiting.length && !this.#hasResolved) this.#waiting[next++]!();
    this.#waiting = this.#waiting.slice(next);
    if (!this.isWaiting) this.#resume();
  }
}
