/** How long an answer is waited for: until the caller has had enough, or so many seconds. */
import { LONGEST_TIMER } from '../../../bindings/longest-timer.js';
import { HttpBindingError } from './errors.js';

export class Patience {
  readonly #signal: AbortSignal | undefined;
  readonly #seconds: number;
  readonly #controller = new AbortController();
  readonly #abort = (): void => this.#controller.abort(this.#signal?.reason);

  /** @throws TypeError on a time that is none */
  constructor(signal: AbortSignal | undefined, seconds = 0) {
    if (!(seconds >= 0)) throw new TypeError(`timeout is a number of seconds from 0 on; got ${seconds}`);
    this.#signal = signal;
    this.#seconds = seconds;
  }

  /** What the exchange goes by from now on. */
  begin(): AbortSignal {
    if (this.#signal?.aborted === true) this.#abort();
    else this.#signal?.addEventListener('abort', this.#abort);
    return this.#controller.signal;
  }

  /**
   * Waits for something, no longer than is allowed, even where it does not heed the signal.
   *
   * @param late told what comes when nobody waits any more
   */
  async wait<T>(work: () => Promise<T>, late: (result: T) => void = () => undefined): Promise<T> {
    const { signal } = this.#controller;
    const timer =
      this.#seconds === 0 || this.#seconds === Number.POSITIVE_INFINITY
        ? undefined
        : setTimeout(
            () => this.#controller.abort(new HttpBindingError('timeout', `No answer came within ${this.#seconds} s.`)),
            Math.min(this.#seconds * 1000, LONGEST_TIMER),
          );
    let stop: () => void = () => undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
    const working = work();
    try {
      return await Promise.race([working, stopped]);
    } catch (thrown) {
      if (signal.aborted) working.then(late, () => undefined);
      throw thrown;
    } finally {
      signal.removeEventListener('abort', stop);
      clearTimeout(timer);
    }
  }

  /** Why the wait has ended; `undefined` where it has not. */
  get reason(): unknown {
    return this.#controller.signal.aborted ? this.#controller.signal.reason : undefined;
  }

  /** The exchange is over. */
  end(): void {
    this.#signal?.removeEventListener('abort', this.#abort);
  }
}
