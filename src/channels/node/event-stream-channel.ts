/** The server's side of a channel over server-sent events and POST. */
import { PassThrough, type Writable } from 'node:stream';
import { deferred } from '../../async/listeners.js';
import { everyUnref } from '../../async/timers.js';
import type { Channel } from '../channel.js';
import { CONNECTION_EVENT, END_EVENT, KEEP_ALIVE_COMMENT, serverSentEvent } from '../event-stream.js';
import { ByteChannel, type ByteChannelOptions } from './byte-channel.js';
import { resetStream } from './http2-session.js';

/** Options of {@link eventStreamChannel}. */
export interface EventStreamChannelOptions extends ByteChannelOptions {
  /** Returns the `id` of the event of a text, which browsers return as `Last-Event-ID`; `undefined` for an event without one. */
  readonly idOf?: ((text: string) => string | undefined) | undefined;
  /** Milliseconds between two comments that keep the connection open. @default 15_000 */
  readonly keepAliveMs?: number | undefined;
  /** The maximum length in bytes of the requests that are read or wait, in total. One request in order is always taken. @default 16_777_216 */
  readonly maxWaitingBytes?: number | undefined;
}

/** A channel whose input arrives in separate requests. */
export interface EventStreamEnds {
  /** The channel: its output is the event stream. */
  readonly channel: Channel;
  /** The input. */
  readonly inbox: Inbox;
}

/** Creates a channel. @param output the body of the event stream, whose headers are sent */
export function eventStreamChannel(
  output: Writable,
  connectionId: string,
  { idOf, keepAliveMs = KEEP_ALIVE_MS, maxWaitingBytes, ...lines }: EventStreamChannelOptions = {},
): EventStreamEnds {
  const input = new PassThrough();
  const frame = (text: string): string => serverSentEvent(text, idOf?.(text));
  const ending = `event: ${END_EVENT}\ndata:\n\n`;
  const channel = new ByteChannel(input, output, lines, { frame, ending });
  output.write(`event: ${CONNECTION_EVENT}\ndata: ${JSON.stringify({ connection_id: connectionId })}\n\n`);
  const inbox = new Inbox(input, maxWaitingBytes);
  const stop = everyUnref(keepAliveMs, () => {
    if (!output.writableEnded && !output.writableNeedDrain) output.write(KEEP_ALIVE_COMMENT);
  });
  output.once('close', () => {
    stop();
    // The other side cannot receive answers any more.
    if (output.writableFinished) inbox.end();
    else inbox.fail(new Error('the event stream was closed'));
  });
  const destroy = (): void => {
    resetStream(output);
    channel.destroy();
  };
  return { channel: { ...channel, destroy }, inbox };
}

const KEEP_ALIVE_MS = 15_000;
/** The maximum number of requests that wait for earlier ones. */
const MAX_WAITING = 64;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** A request that waits for earlier ones. */
interface Waiting {
  readonly lines: Uint8Array;
  readonly taken: ReturnType<typeof deferred<boolean>>;
}

/** Puts requests in the order of their numbers, and ignores those that arrive again. */
export class Inbox {
  readonly #input: PassThrough;
  readonly #waiting = new Map<number, Waiting>();
  readonly #maxBytes: number;
  /** The length of the reserved requests. */
  #bytes = 0;
  /** The number of reserved requests that wait for no earlier one. */
  #inOrder = 0;
  #next = 1;
  /** Resolves when the channel has taken the last request in order. */
  #last: Promise<boolean> = Promise.resolve(true);
  /** Writes that the channel has not taken. A stream that is destroyed does not report them. */
  readonly #writing = new Set<(isTaken: boolean) => void>();

  constructor(input: PassThrough, maxBytes = MAX_WAITING_BYTES) {
    this.#input = input;
    this.#maxBytes = maxBytes;
    input.once('close', () => {
      this.#refuseAll();
      for (const settle of this.#writing) settle(false);
    });
  }

  /**
   * Reserves the memory for a request, before its body is read: always for one that comes next, and for others while few wait.
   *
   * @param length the length of the body in bytes, or its maximum
   * @returns the function that frees the memory; `undefined` if the request must come later
   */
  reserve(number: number | undefined, length: number): (() => void) | undefined {
    const isInOrder = number === undefined || number <= this.#next;
    const hasRoom = this.#bytes + length <= this.#maxBytes;
    if (isInOrder ? !hasRoom && this.#inOrder > 0 : !hasRoom || !this.#isNear(number)) return undefined;
    this.#bytes += length;
    if (isInOrder) this.#inOrder++;
    return () => {
      this.#bytes -= length;
      if (isInOrder) this.#inOrder--;
    };
  }

  #isNear(number: number): boolean {
    return this.#waiting.size < MAX_WAITING && number < this.#next + MAX_WAITING;
  }

  /**
   * Takes the lines of a request. Resolves with `true` when the channel has taken them, and with `false` if it ended first.
   *
   * @param number the number of the request, from 1; `undefined` for the place in which it arrives
   */
  take(lines: Uint8Array, number?: number): Promise<boolean> {
    if (number === undefined) return this.#write(lines);
    if (number < this.#next) return this.#last;
    const known = this.#waiting.get(number);
    if (known !== undefined) return known.taken.promise;
    const taken = deferred<boolean>();
    this.#waiting.set(number, { lines, taken });
    if (!this.#isOpen) this.#refuseAll();
    for (let next = this.#waiting.get(this.#next); next !== undefined; next = this.#waiting.get(this.#next)) {
      this.#waiting.delete(this.#next++);
      this.#last = this.#write(next.lines);
      void this.#last.then(next.taken.resolve);
    }
    return taken.promise;
  }

  /** Ends the input. */
  end(): void {
    if (this.#isOpen) this.#input.end();
    this.#refuseAll();
  }

  /** Breaks the input. */
  fail(error: Error): void {
    this.#input.destroy(error);
    this.#refuseAll();
  }

  get #isOpen(): boolean {
    return !this.#input.writableEnded && !this.#input.destroyed;
  }

  #write(lines: Uint8Array): Promise<boolean> {
    if (!this.#isOpen) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (isTaken: boolean): void => {
        this.#writing.delete(settle);
        resolve(isTaken);
      };
      this.#writing.add(settle);
      this.#input.write(lines, (error) => settle(error === undefined || error === null));
    });
  }

  #refuseAll(): void {
    for (const { taken } of this.#waiting.values()) taken.resolve(false);
    this.#waiting.clear();
  }
}
