/** Items in the order in which they came. Taking one out costs the same however many wait: `shift` of a long array moves all others. */
export class Fifo<T> {
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

  clear(): void {
    this.#items = [];
    this.#taken = 0;
  }
}
