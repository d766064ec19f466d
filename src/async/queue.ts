/** A first-in, first-out queue in amortized constant time. `shift` of a long array moves all other items. */
export class Queue<T> {
  #items: T[] = [];
  /** Items before this index are removed. */
  #start = 0;

  get size(): number {
    return this.#items.length - this.#start;
  }

  /** The oldest item; `undefined` if the queue is empty. */
  get first(): T | undefined {
    return this.#items[this.#start];
  }

  /** The newest item; `undefined` if the queue is empty. */
  get last(): T | undefined {
    return this.#items.at(-1);
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Inserts items before all others, in their order. */
  unshift(items: readonly T[]): void {
    this.#items = [...items, ...this.#items.slice(this.#start)];
    this.#start = 0;
  }

  /** Returns the first `count` items without removing them. */
  peek(count: number): readonly T[] {
    return this.#items.slice(this.#start, this.#start + count);
  }

  /** Removes and returns the oldest item. The queue must not be empty. */
  take(): T {
    const item = this.#items[this.#start++]!;
    // The rest moves only once half of the array is removed.
    if (2 * this.#start >= this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
    return item;
  }

  /** Removes and returns all items. */
  clear(): readonly T[] {
    const items = this.#items.slice(this.#start);
    this.#items = [];
    this.#start = 0;
    return items;
  }
}

/** An async iterator over values that are pushed into it. */
export class AsyncQueue<T> implements AsyncIterableIterator<T> {
  readonly #values = new Queue<T>();
  /** Pending calls of `next`. */
  readonly #waiting = new Queue<(result: IteratorResult<T> | Promise<IteratorResult<T>>) => void>();
  #hasEnded = false;
  /** Thrown once, after the last value. */
  #error: unknown;
  readonly #onReturn: () => void;

  /** @param onReturn called when the consumer stops before the end */
  constructor(onReturn: () => void = () => {}) {
    this.#onReturn = onReturn;
  }

  push(value: T): void {
    if (this.#hasEnded) return;
    if (this.#waiting.size === 0) this.#values.push(value);
    else this.#waiting.take()({ done: false, value });
  }

  /** Ends the queue; values that were pushed before can still be read. @param error thrown after the last value, if the values are incomplete */
  end(error?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#error = error;
    while (this.#waiting.size > 0) this.#waiting.take()(this.#endResult());
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#values.size > 0) return Promise.resolve({ done: false, value: this.#values.take() });
    if (this.#hasEnded) return this.#endResult();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #endResult(): Promise<IteratorReturnResult<undefined>> {
    const error = this.#error;
    this.#error = undefined;
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }

  return(): Promise<IteratorResult<T>> {
    this.#values.clear();
    this.#error = undefined;
    this.end();
    this.#onReturn();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
