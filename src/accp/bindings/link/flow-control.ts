/** Limits the messages and chunks that have arrived and are not read yet: too many of them pause the connection. */

import { Queue } from '../../../async/queue.js';
import type { FrameTransport } from './contract.js';

/** Unread messages, or chunks of one stream, at which the connection pauses and resumes. */
const HIGH_WATER_MARK = 256;
const LOW_WATER_MARK = 64;

export class FlowControl {
  #socket: FrameTransport | undefined;
  /** Names of the queues that are too full. */
  readonly #full = new Set<string>();
  /** Unread chunks by stream. */
  readonly #unread = new Map<string, number>();

  attach(socket: FrameTransport): void {
    this.#socket = socket;
    if (this.#full.size > 0) socket.pause();
  }

  pause(name: string): void {
    if (this.#full.has(name)) return;
    this.#full.add(name);
    this.#socket?.pause();
  }

  resume(name: string): void {
    if (this.#full.delete(name) && this.#full.size === 0) this.#socket?.resume();
  }

  openStream(stream: string): void {
    this.#unread.set(stream, 0);
  }

  chunkArrived(stream: string): void {
    const unread = this.#unread.get(stream);
    if (unread === undefined) return;
    this.#unread.set(stream, unread + 1);
    if (unread + 1 >= HIGH_WATER_MARK) this.pause(stream);
  }

  chunkRead(stream: string): void {
    const unread = this.#unread.get(stream);
    if (unread === undefined || unread === 0) return;
    this.#unread.set(stream, unread - 1);
    if (unread - 1 <= LOW_WATER_MARK) this.resume(stream);
  }

  closeStream(stream: string): void {
    this.#unread.delete(stream);
    this.resume(stream);
  }
}

/** The name of the queue of messages; streams have the name of their chain. */
const MESSAGES = '';

/** Messages that wait for a reader. */
export class MessageQueue<T> implements AsyncIterable<T> {
  readonly #flowControl: FlowControl;
  readonly #onDropped: (item: T) => void;
  readonly #items = new Queue<T>();
  #wake: (() => void)[] = [];
  #readers = 0;
  #hasEnded = false;
  #error: Error | undefined;

  /** @param onDropped called with the oldest of too many items while there is no reader */
  constructor(flowControl: FlowControl, onDropped: (item: T) => void) {
    this.#flowControl = flowControl;
    this.#onDropped = onDropped;
  }

  push(item: T): void {
    if (this.#hasEnded) return;
    this.#items.push(item);
    if (this.#items.size > HIGH_WATER_MARK && this.#readers === 0) this.#onDropped(this.#items.take());
    else if (this.#items.size >= HIGH_WATER_MARK && this.#readers > 0) this.#flowControl.pause(MESSAGES);
    this.#wakeAll();
  }

  /** Ends the queue. Readers get the remaining items, and then the error. */
  end(error?: Error): void {
    this.#hasEnded = true;
    this.#error = error;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Yields the items. Among several readers, the first one that asks gets an item. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    this.#readers++;
    try {
      for (;;) {
        if (this.#items.size > 0) {
          const item = this.#items.take();
          if (this.#items.size <= LOW_WATER_MARK) this.#flowControl.resume(MESSAGES);
          yield item;
        } else if (this.#hasEnded) {
          if (this.#error !== undefined) throw this.#error;
          return;
        } else await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
    } finally {
      if (--this.#readers === 0) this.#flowControl.resume(MESSAGES);
    }
  }
}
