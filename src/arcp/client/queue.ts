/** Values that come, for somebody who takes them one by one. */
export class Queue<T> implements AsyncIterableIterator<T> {
  #values: T[] = [];
  #waiting: ((result: IteratorResult<T>) => void)[] = [];
  #hasEnded = false;
  readonly #onLeave: () => void;

  /** @param onLeave told when nobody takes them any more */
  constructor(onLeave: () => void = () => {}) {
    this.#onLeave = onLeave;
  }

  push(value: T): void {
    if (this.#hasEnded) return;
    const taker = this.#waiting.shift();
    if (taker === undefined) this.#values.push(value);
    else taker({ done: false, value });
  }

  /** What is there can still be taken. */
  end(): void {
    this.#hasEnded = true;
    for (const taker of this.#waiting.splice(0)) taker({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#values.length > 0) return Promise.resolve({ done: false, value: this.#values.shift()! });
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<T>> {
    this.#values = [];
    this.end();
    this.#onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
