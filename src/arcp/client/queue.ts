/** Values that come, for somebody who takes them one by one. */
import { Fifo } from '../../channels/fifo.js';

export class Queue<T> implements AsyncIterableIterator<T> {
  readonly #values = new Fifo<T>();
  readonly #waiting = new Fifo<(result: IteratorResult<T>) => void>();
  #hasEnded = false;
  readonly #onLeave: () => void;

  /** @param onLeave told when nobody takes them any more */
  constructor(onLeave: () => void = () => {}) {
    this.#onLeave = onLeave;
  }

  push(value: T): void {
    if (this.#hasEnded) return;
    if (this.#waiting.size === 0) this.#values.push(value);
    else this.#waiting.take()({ done: false, value });
  }

  /** What is there can still be taken. */
  end(): void {
    this.#hasEnded = true;
    while (this.#waiting.size > 0) this.#waiting.take()({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#values.size > 0) return Promise.resolve({ done: false, value: this.#values.take() });
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<T>> {
    this.#values.clear();
    this.end();
    this.#onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
