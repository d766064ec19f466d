/** Limits what has come and is not read yet: too much of it holds up the connection. */

import { Queue } from '../../../async/queue.js';
import type { Carrier } from './contract.js';

/** Unread messages, or chunks of one stream, that pause the connection, and that resume it. */
const FULL = 256;
const LOW = 64;

export class Inflow {
  #socket: Carrier | undefined;
  readonly #full = new Set<string>();
  /** Unread chunks by stream. */
  readonly #unread = new Map<string, number>();

  attach(socket: Carrier): void {
    this.#socket = socket;
    if (this.#full.size > 0) socket.pause();
  }

  fill(name: string): void {
    if (this.#full.has(name)) return;
    this.#full.add(name);
    this.#socket?.pause();
  }

  drain(name: string): void {
    if (this.#full.delete(name) && this.#full.size === 0) this.#socket?.resume();
  }

  open(stream: string): void {
    this.#unread.set(stream, 0);
  }

  came(stream: string): void {
    const unread = this.#unread.get(stream);
    if (unread === undefined) return;
    this.#unread.set(stream, unread + 1);
    if (unread + 1 >= FULL) this.fill(stream);
  }

  read(stream: string): void {
    const unread = this.#unread.get(stream);
    if (unread === undefined || unread === 0) return;
    this.#unread.set(stream, unread - 1);
    if (unread - 1 <= LOW) this.drain(stream);
  }

  close(stream: string): void {
    this.#unread.delete(stream);
    this.drain(stream);
  }
}

/** The name of unread messages in the inflow; streams have that of their chain. */
const MESSAGES = '';

/** Messages that wait for a reader. */
export class MessageQueue<T> implements AsyncIterable<T> {
  readonly #inflow: Inflow;
  readonly #dropped: (item: T) => void;
  readonly #items = new Queue<T>();
  #wake: (() => void)[] = [];
  #readers = 0;
  #isOver = false;
  #error: Error | undefined;

  /** @param dropped gets the oldest of too many items when there is no reader */
  constructor(inflow: Inflow, dropped: (item: T) => void) {
    this.#inflow = inflow;
    this.#dropped = dropped;
  }

  push(item: T): void {
    if (this.#isOver) return;
    this.#items.push(item);
    if (this.#items.size > FULL && this.#readers === 0) this.#dropped(this.#items.take());
    else if (this.#items.size >= FULL && this.#readers > 0) this.#inflow.fill(MESSAGES);
    this.#wakeAll();
  }

  /** Items that have come are still given, then the error is thrown. */
  end(error?: Error): void {
    this.#isOver = true;
    this.#error = error;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Of several readers, the first that asks gets an item. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    this.#readers++;
    try {
      for (;;) {
        if (this.#items.size > 0) {
          const item = this.#items.take();
          if (this.#items.size <= LOW) this.#inflow.drain(MESSAGES);
          yield item;
        } else if (this.#isOver) {
          if (this.#error !== undefined) throw this.#error;
          return;
        } else await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
    } finally {
      if (--this.#readers === 0) this.#inflow.drain(MESSAGES);
    }
  }
}
