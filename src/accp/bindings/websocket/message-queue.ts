/** Messages that wait for whoever reads them. */

/** Messages from which on no more should come, and at which they may come again. */
const FULL = 256;
const LOW = 64;

export class MessageQueue<T> implements AsyncIterable<T> {
  readonly #onFull: () => void;
  readonly #onLow: () => void;
  readonly #onDropped: (item: T) => void;
  #items: T[] = [];
  #wake: (() => void) | undefined;
  #isFull = false;
  #isRead = false;
  #isOver = false;
  #error: Error | undefined;

  /**
   * @param listeners `full` and `low`: no more should come, and may come again; `dropped`: as long as nobody has begun to read, the
   * oldest make place
   */
  constructor(listeners: {
    readonly full: () => void;
    readonly low: () => void;
    readonly dropped: (item: T) => void;
  }) {
    this.#onFull = listeners.full;
    this.#onLow = listeners.low;
    this.#onDropped = listeners.dropped;
  }

  push(item: T): void {
    if (this.#isOver) return;
    this.#items.push(item);
    if (this.#items.length > FULL && !this.#isRead) this.#onDropped(this.#items.shift()!);
    else if (this.#items.length >= FULL && this.#isRead && !this.#isFull) {
      this.#isFull = true;
      this.#onFull();
    }
    this.#wake?.();
  }

  /** What has come is still given. @param error thrown after it */
  end(error?: Error): void {
    this.#isOver = true;
    this.#error = error;
    this.#wake?.();
  }

  /** One reader: each item is given once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    this.#isRead = true;
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) {
        if (this.#isFull && this.#items.length <= LOW) {
          this.#isFull = false;
          this.#onLow();
        }
        yield item;
      } else if (this.#isOver) {
        if (this.#error !== undefined) throw this.#error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
