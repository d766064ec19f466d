/** First in, first out, in constant time: `shift` of a long array moves all others. */
export class Queue<T> {
  #items: T[] = [];
  #taken = 0;

  get size(): number {
    return this.#items.length - this.#taken;
  }

  /** The oldest item, while it waits. */
  get first(): T | undefined {
    return this.#items[this.#taken];
  }

  /** The item that was pushed last, while it waits. */
  get last(): T | undefined {
    return this.#items.at(-1);
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Puts items before all others, in their order. */
  unshift(items: readonly T[]): void {
    this.#items = [...items, ...this.#items.slice(this.#taken)];
    this.#taken = 0;
  }

  /** The first few items, which stay. */
  peek(count: number): readonly T[] {
    return this.#items.slice(this.#taken, this.#taken + count);
  }

  /** Takes out the oldest item; there has to be one. */
  take(): T {
    const item = this.#items[this.#taken++]!;
    // Moved once for each half that is taken.
    if (2 * this.#taken >= this.#items.length) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return item;
  }

  /** Takes out all items. */
  clear(): readonly T[] {
    const left = this.#items.slice(this.#taken);
    this.#items = [];
    this.#taken = 0;
    return left;
  }
}

/** Values that are pushed by one side, and taken one by one by another that waits for them. */
export class AsyncQueue<T> implements AsyncIterableIterator<T> {
  readonly #values = new Queue<T>();
  readonly #waiting = new Queue<(result: IteratorResult<T> | Promise<IteratorResult<T>>) => void>();
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
