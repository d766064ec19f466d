/** Work of which only so much is done at a time. */

import { Queue } from '../../../async/queue.js';

interface Waiting {
  readonly size: number;
  readonly enter: () => void;
}

/** Places at the work; whoever comes when all are taken waits, in order. */
export class Places {
  readonly #count: number;
  #taken = 0;
  readonly #waiting = new Queue<Waiting>();
  #waitingSize = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** How many are at work, or wait for it. */
  get size(): number {
    return this.#taken + this.#waiting.size;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** The sizes of those who wait, in all. */
  get waitingSize(): number {
    return this.#waitingSize;
  }

  /** @returns what to wait for; `undefined` where there is a place */
  enter(size: number): Promise<void> | undefined {
    if (this.#taken < this.#count) {
      this.#taken++;
      return undefined;
    }
    this.#waitingSize += size;
    return new Promise((enter) => this.#waiting.push({ size, enter }));
  }

  leave(): void {
    if (this.#waiting.size === 0) {
      this.#taken--;
      return;
    }
    const next = this.#waiting.take();
    this.#waitingSize -= next.size;
    next.enter();
  }

  /** Lets all in: there will be no work for them. */
  open(): void {
    while (this.#waiting.size > 0) {
      this.#taken++;
      this.leave();
    }
  }
}
