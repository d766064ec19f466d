/** How long an answer is waited for: until the caller has had enough, or so many seconds. */
import { after } from '../../../async/timers.js';
import { HttpBindingError } from './errors.js';

export class Patience {
  readonly #signal: AbortSignal | undefined;
  readonly #seconds: number;
  readonly #isForAll: boolean;
  #stop: () => void = () => undefined;
  readonly #controller = new AbortController();
  readonly #late = (): void =>
    this.#controller.abort(new HttpBindingError('timeout', `No answer came within ${this.#seconds} s.`));
  readonly #abort = (): void => this.#controller.abort(this.#signal?.reason);

  /**
   * @param isForAll whether the time is for the whole exchange, and not for each step
   * @throws TypeError on a time that is none
   */
  constructor(signal: AbortSignal | undefined, seconds = 0, isForAll = false) {
    if (!(seconds >= 0)) throw new TypeError(`timeout is a number of seconds from 0 on; got ${seconds}`);
    this.#signal = signal;
    this.#seconds = seconds === 0 ? Number.POSITIVE_INFINITY : seconds;
    this.#isForAll = isForAll;
  }

  /** What the exchange goes by from now on. */
  begin(): AbortSignal {
    if (this.#signal?.aborted === true) this.#abort();
    else this.#signal?.addEventListener('abort', this.#abort);
    if (this.#isForAll) this.#stop = after(this.#seconds * 1000, this.#late);
    return this.#controller.signal;
  }

  /**
   * Waits for something, no longer than is allowed, even where it does not heed the signal.
   *
   * @param late told what comes when nobody waits any more
   */
  async wait<T>(work: () => Promise<T>, late: (result: T) => void = () => undefined): Promise<T> {
    const { signal } = this.#controller;
    // What nobody waits for is not begun.
    signal.throwIfAborted();
    const done = this.#isForAll ? () => undefined : after(this.#seconds * 1000, this.#late);
    let stop: () => void = () => undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
    });
    signal.addEventListener('abort', stop);
    const working = work();
    try {
      return await Promise.race([working, stopped]);
    } catch (thrown) {
      if (signal.aborted) working.then(late, () => undefined);
      throw thrown;
    } finally {
      signal.removeEventListener('abort', stop);
      done();
    }
  }

  /** Why the wait has ended; `undefined` where it has not. */
  get reason(): unknown {
    return this.#controller.signal.aborted ? this.#controller.signal.reason : undefined;
  }

  /** The exchange is over. */
  end(): void {
    this.#stop();
    this.#signal?.removeEventListener('abort', this.#abort);
  }
}
