import { Queue } from './queue.js';

/** Releases a permit. Calls after the first do nothing. */
type Release = () => void;

/** A counting semaphore whose waiters are served in order. With one permit, it is a mutex. */
export class Semaphore {
  #free: number;
  /** Each hands the permit to a waiter; returns `false` if the waiter was aborted. */
  readonly #waiting = new Queue<() => boolean>();

  constructor(permits: number) {
    this.#free = permits;
  }

  /**
   * Acquires a permit, synchronously if one is free.
   *
   * @throws the reason of the signal, if it is aborted first
   */
  acquire(signal?: AbortSignal): Release | Promise<Release> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free--;
      return this.#permit();
    }
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal!.reason);
      this.#waiting.push(() => {
        if (signal?.aborted) return false;
        signal?.removeEventListener('abort', abort);
        resolve(this.#permit());
        return true;
      });
      signal?.addEventListener('abort', abort, { once: true });
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
