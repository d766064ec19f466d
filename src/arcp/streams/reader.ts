/** A stream as somebody reads it: in order, without gaps, at the reader's own pace. */
import { Queue } from '../../async/queue.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import { ArcpError, asArcpError, type ErrorBody } from '../protocol/errors.js';
import type { StreamKind } from '../protocol/payloads/stream.js';
import { type Content, contentOf, sizeOf } from './content.js';

type Chunk = PayloadOf<'stream.chunk'>;

/** Chunks that may wait for the reader before the sender is told to stop, and those at which it may go on. */
const HIGH = 64;
const LOW = 16;
const HIGH_SIZE = 1024 * 1024;
/** What may wait of a sender that does not stop, before the stream is given up. */
const MOST = 100 * HIGH;
const MOST_SIZE = 16 * HIGH_SIZE;
/** Chunks that may wait for one that is missing. */
const MOST_AHEAD = 1024;

export interface ReaderOptions<K extends StreamKind> {
  /** What the stream carries. */
  readonly kind: K;
  /** The reader cannot keep up, or can again. */
  readonly onPressure: (isFull: boolean) => void;
  /** Nobody reads it any more. */
  readonly onLeave: () => void;
  /** Whether a sender that does not stop is given up. What is told again comes as fast as it can: there, it is not. @default false */
  readonly isBounded?: boolean | undefined;
  /** What comes cannot be read: it has gaps, is none, or is more than was wanted. */
  readonly onFailure?: ((error: ArcpError) => void) | undefined;
}

export class StreamReader<K extends StreamKind> implements AsyncIterableIterator<Content<K>> {
  readonly #options: ReaderOptions<K>;
  readonly #ready = new Queue<Content<K>>();
  readonly #ahead = new Map<number, Chunk>();
  #next = 0;
  #size = 0;
  #isFull = false;
  #end: { readonly error?: unknown } | undefined;
  #waiting: (() => void)[] = [];

  get kind(): K {
    return this.#options.kind;
  }

  constructor(options: ReaderOptions<K>) {
    this.#options = options;
  }

  /** A chunk, which may have come before, or before its time. */
  push(chunk: Chunk): void {
    // A sender that numbers nothing relies on the order of the transport.
    const { sequence = this.#next } = chunk;
    if (this.#end !== undefined || sequence < this.#next || this.#ahead.has(sequence)) return;
    this.#ahead.set(sequence, chunk);
    for (let next = this.#ahead.get(this.#next); next !== undefined; next = this.#ahead.get(this.#next)) {
      this.#ahead.delete(this.#next);
      this.#next = (next.last_sequence ?? this.#next) + 1;
      this.#take(next);
    }
    if (this.#ahead.size > MOST_AHEAD)
      this.#giveUp(new ArcpError('DATA_LOSS', `Chunk ${this.#next} of the stream did not come`));
    this.#changed();
  }

  /** @param total how many chunks it had, where the sender said it */
  close(total?: number): void {
    if (this.#ahead.size > 0 || (total !== undefined && total > this.#next))
      this.#giveUp(new ArcpError('DATA_LOSS', `Chunk ${this.#next} of the stream did not come`));
    this.#end ??= {};
    this.#changed();
  }

  fail(error: ErrorBody | Error): void {
    this.#end ??= { error: error instanceof Error ? error : ArcpError.fromBody(error) };
    this.#changed();
  }

  /** What comes next. What has come is read before an error is told. */
  async next(): Promise<IteratorResult<Content<K>>> {
    for (;;) {
      if (this.#ready.size > 0) return { done: false, value: this.#shift() };
      if (this.#end !== undefined) {
        const { error } = this.#end;
        this.#end = {};
        if (error !== undefined) throw error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async return(): Promise<IteratorResult<Content<K>>> {
    this.#end = {};
    this.#ready.clear();
    this.#size = 0;
    this.#relieve();
    this.#options.onLeave();
    this.#changed();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(chunk: Chunk): void {
    let content: Content<K>;
    try {
      content = contentOf(this.#options.kind, chunk);
    } catch (error) {
      this.#giveUp(asArcpError(error));
      return;
    }
    this.#ready.push(content);
    this.#size += sizeOf(content);
    const { isBounded = false } = this.#options;
    if (isBounded && (this.#ready.size > MOST || this.#size > MOST_SIZE))
      this.#giveUp(new ArcpError('BACKPRESSURE_OVERFLOW', 'More was sent than anybody reads'));
    if (this.#isFull || (this.#ready.size < HIGH && this.#size < HIGH_SIZE)) return;
    this.#isFull = true;
    this.#options.onPressure(true);
  }

  /** It was the sender's fault. */
  #giveUp(error: ArcpError): void {
    if (this.#end !== undefined) return;
    this.#ahead.clear();
    this.fail(error);
    this.#options.onFailure?.(error);
  }

  #shift(): Content<K> {
    const content = this.#ready.take();
    this.#size -= sizeOf(content);
    if (this.#ready.size <= LOW && this.#size < HIGH_SIZE / 2) this.#relieve();
    return content;
  }

  #relieve(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#options.onPressure(false);
  }

  #changed(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
