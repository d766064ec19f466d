import { Queue } from './queue.js';

/** Ends the use of a permit. Calls after the first do nothing. */
type Release = () => void;

/** Lets so many callers work at a time; others wait in the order in which they asked. With one permit it is a mutex. */
export class Semaphore {
  #free: number;
  /** Each begins, unless its caller has given up. */
  readonly #waiting = new Queue<() => boolean>();

  constructor(permits: number) {
    this.#free = permits;
  }

  /**
   * Takes a permit: at once where one is free.
   *
   * @throws what the signal is aborted with, where that comes first
   */
  acquire(signal?: AbortSignal): Release | Promise<Release> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free--;
      return this.#permit();
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(signal!.reason);
      this.#waiting.push(() => {
        if (signal?.aborted) return false;
        signal?.removeEventListener('abort', giveUp);
        resolve(this.#permit());
        return true;
      });
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  #permit(): Release {
    let isHeld = true;
    return () => {
      if (isHeld) this.#release();
      isHeld = false;
    };
  }

  #release(): void {
    while (this.#waiting.size > 0) if (this.#waiting.take()()) return;
    this.#free++;
  }
}
