/** So many at a time; others wait for their turn. */
import { Fifo } from '../../../channels/fifo.js';

export class Slots {
  #free: number;
  /** Each begins, unless it has left. */
  readonly #waiting = new Fifo<() => boolean>();

  constructor(count: number) {
    this.#free = count;
  }

  /** @throws what the signal is aborted with, where its turn has not come before */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #next(): void {
    while (this.#waiting.size > 0) if (this.#waiting.take()()) return;
    this.#free++;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => reject(signal.reason);
      this.#waiting.push(() => {
        signal.removeEventListener('abort', leave);
        resolve();
        return !signal.aborted;
      });
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
