/** What has come and waits for whoever reads it: too much of it holds up the connection. */
import type { Carrier } from './carrier.js';

/** Unread chunks of one stream from which on no more should come, and at which they may come again. */
const FULL = 256;
const LOW = 64;

export class Inflow {
  #socket: Carrier | undefined;
  /** What is full, by name. */
  readonly #full = new Set<string>();
  /** Chunks that were not read, by stream. */
  readonly #unread = new Map<string, number>();

  /** Goes on over another connection. */
  attach(socket: Carrier): void {
    this.#socket = socket;
    if (this.#full.size > 0) socket.pause();
  }

  fill(name: string): void {
    this.#full.add(name);
    this.#socket?.pause();
  }

  drain(name: string): void {
    if (this.#full.delete(name) && this.#full.size === 0) this.#socket?.resume();
  }

  /** From now on, the chunks of a stream are counted. */
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

  /** Nobody reads it any more. */
  close(stream: string): void {
    this.#unread.delete(stream);
    this.drain(stream);
  }
}
