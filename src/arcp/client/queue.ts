/** Values that come, for somebody who takes them one by one. */
import { Fifo } from '../../channels/fifo.js';

export class Queue<T> implements AsyncIterableIterator<T> {
  readonly #values = new Fifo<T>();
  readonly #waiting = new Fifo<(result: IteratorResult<T> | Promise<IteratorResult<T>>) => void>();
  #hasEnded = false;
  /** What is thrown once, behind the last value. */
  #error: unknown;
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

  /** What is there can still be taken. @param error why more may be missing: thrown behind the last value */
  end(error?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#error = error;
    while (this.#waiting.size > 0) this.#waiting.take()(this.#over());
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#values.size > 0) return Promise.resolve({ done: false, value: this.#values.take() });
    if (this.#hasEnded) return this.#over();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #over(): Promise<IteratorReturnResult<undefined>> {
    const error = this.#error;
    this.#error = undefined;
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }

  return(): Promise<IteratorResult<T>> {
    this.#values.clear();
    this.#error = undefined;
    this.end();
    this.#onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
