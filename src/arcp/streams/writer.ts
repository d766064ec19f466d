/**
 * The writing end of streams, of jobs and of clients, at the rate of their readers (spec 003, "Streams": "Senders SHOULD slow or batch
 * stream.chunk events after receiving backpressure").
 */
import { ignoringRejections } from '../../async/listeners.js';
import { Queue } from '../../async/queue.js';
import { after } from '../../async/timers.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import { ArcpError, asArcpError } from '../protocol/errors.js';
import { newId } from '../protocol/ids.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import {
  bytesIn,
  type Content,
  chunkOf,
  cut,
  join,
  MAX_CHUNK_BYTES,
  mayJoin,
  type StreamOptions,
  type StreamWriter,
  sizeOf,
} from './content.js';

export interface RateLimit {
  /** Chunks per second; 0 pauses. */
  readonly rate: number;
  readonly maxBytes: number;
}

const UNBOUNDED: RateLimit = { rate: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

/** Converts backpressure to a rate limit. A receiver without buffer space pauses the sender. */
export function rateLimitOf({ desired_rate_per_second, buffer_remaining_bytes }: PayloadOf<'backpressure'>): RateLimit {
  const { rate, maxBytes } = UNBOUNDED;
  if (buffer_remaining_bytes === 0) return { rate: 0, maxBytes };
  return { rate: desired_rate_per_second ?? rate, maxBytes: buffer_remaining_bytes ?? maxBytes };
}

/** Returns the backpressure that pauses or resumes a sender. */
export function backpressureOf(isFull: boolean): PayloadOf<'backpressure'> {
  return isFull ? { desired_rate_per_second: 0, buffer_remaining_bytes: 0, reason: 'slow_reader' } : {};
}

/** Limits the rate of chunks to that of the slowest reader. */
export class RateLimiter {
  readonly #limits = new Map<string, RateLimit>();
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #isReleased = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  set(reader: string, limit: RateLimit): void {
    this.#limits.set(reader, limit);
    this.#wakeUp();
  }

  limitOf(reader: string): RateLimit | undefined {
    return this.#limits.get(reader);
  }

  unset(reader: readonly string[]): void {
    for (const one of reader) this.#limits.delete(one);
    this.#wakeUp();
  }

  release(): void {
    this.#isReleased = true;
    this.#wakeUp();
  }

  get maxBytes(): number {
    return Math.min(...[...this.#limits.values()].map(({ maxBytes }) => maxBytes));
  }

  /** Resolves when the next chunk may be sent. For one caller at a time. */
  async acquire(signal: AbortSignal): Promise<void> {
    for (let wait = this.#wait(); wait > 0; wait = this.#wait()) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', this.#wakeUp, { once: true });
        this.#cancelTimer = after(wait, this.#wakeUp);
      });
      signal.removeEventListener('abort', this.#wakeUp);
    }
    this.#last = this.#now();
  }

  readonly #wakeUp = (): void => {
    this.#cancelTimer?.();
    this.#wake?.();
    this.#wake = undefined;
  };

  /** Returns the milliseconds until the next chunk; `Infinity` during a pause. */
  #wait(): number {
    const rate = Math.min(...[...this.#limits.values()].map(({ rate: ofReader }) => ofReader));
    if (rate === Number.POSITIVE_INFINITY || this.#isReleased) return 0;
    return rate === 0 ? Number.POSITIVE_INFINITY : this.#last + 1000 / rate - this.#now();
  }
}

interface PendingChunk {
  readonly pieces: unknown[];
  count: number;
  size: number;
  readonly resolve: (() => void)[];
  readonly reject: ((error: unknown) => void)[];
}

/** The transport of a stream. Its promises resolve when a message is stored or sent. */
interface WriterHost {
  readonly rateLimiter: RateLimiter;
  readonly signal: AbortSignal;
  /** Resolves when the reader has received all earlier messages; returns `undefined` if it has, or there is no reader. */
  readonly drained: () => Promise<void> | undefined;
  readonly open: (streamId: string, payload: PayloadOf<'stream.open'>) => void;
  readonly chunk: (streamId: string, payload: PayloadOf<'stream.chunk'>) => Promise<void>;
  readonly end: (
    streamId: string,
    type: 'stream.close' | 'stream.error',
    payload: PayloadOf<'stream.close'> | PayloadOf<'stream.error'>,
  ) => Promise<void>;
}

export class ChunkWriter<K extends StreamKind> implements StreamWriter<K> {
  readonly id = newId('str');
  readonly kind: K;
  readonly #host: WriterHost;
  readonly #pending = new Queue<PendingChunk>();
  #sending: Promise<void> | undefined;
  #sequence = 0;
  #bytes = 0;
  #isOver = false;
  #isCancelled = false;

  constructor(host: WriterHost, { kind, name, contentType, expectedBytes }: StreamOptions<K>) {
    this.kind = kind;
    this.#host = host;
    host.open(this.id, {
      kind,
      ...(kind === 'binary' ? ({ encoding: 'base64' } as const) : {}),
      name,
      content_type: contentType,
      expected_bytes: expectedBytes,
    });
  }

  readonly write = ignoringRejections(async (content: Content<K>): Promise<void> => {
    if (this.#isOver && !this.#isCancelled) throw new ArcpError('FAILED_PRECONDITION', 'The stream has ended');
    chunkOf(this.kind, content);
    if (this.#isCancelled) return;
    const maxLength = Math.min(MAX_CHUNK_BYTES, this.#host.rateLimiter.maxBytes);
    await Promise.all(cut(content, maxLength).map((piece) => this.#add(piece, maxLength)));
  });

  readonly close = ignoringRejections(async (reason?: string): Promise<void> => {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#sending;
    const payload = {
      total_chunks: this.#sequence,
      reason,
      ...(mayJoin(this.kind) ? { total_bytes: this.#bytes } : {}),
    };
    await this.#host.end(this.id, 'stream.close', payload);
  });

  readonly fail = ignoringRejections(async (error: unknown): Promise<void> => {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#sending;
    await this.#host.end(this.id, 'stream.error', { ...asArcpError(error).toBody() });
  });

  /** Cancels the stream at the request of its reader. The job continues, and further writes are ignored. */
  async cancel(error: ArcpError): Promise<void> {
    if (this.#isOver) return;
    this.#isCancelled = true;
    while (this.#pending.size > 0) for (const done of this.#pending.take().resolve) done();
    this.flush();
    await this.fail(error);
  }

  /** Sends all waiting chunks without a rate limit, since the job ends. */
  flush(): void {
    this.#host.rateLimiter.release();
  }

  #add(piece: unknown, maxLength: number): Promise<void> {
    const size = sizeOf(piece);
    return new Promise((resolve, reject) => {
      const last = this.#pending.last;
      if (last !== undefined && mayJoin(this.kind) && last.size + size <= maxLength) {
        last.pieces.push(piece);
        last.count++;
        last.size += size;
        last.resolve.push(resolve);
        last.reject.push(reject);
      } else this.#pending.push({ pieces: [piece], count: 1, size, resolve: [resolve], reject: [reject] });
      this.#sending ??= this.#send();
    });
  }

  async #send(): Promise<void> {
    const { rateLimiter, drained, signal } = this.#host;
    // Writes of the same turn of the event loop may join into one chunk.
    await null;
    while (this.#pending.size > 0) {
      try {
        await rateLimiter.acquire(signal);
        await drained();
      } catch {
        // The signal was aborted, and the waiting chunks are still sent.
      }
      if (this.#pending.size === 0) break;
      const next = this.#pending.take();
      try {
        await this.#chunk(next);
        for (const resolve of next.resolve) resolve();
      } catch (error) {
        for (const reject of next.reject) reject(error);
      }
    }
    this.#sending = undefined;
  }

  async #chunk({ pieces, count }: PendingChunk): Promise<void> {
    const sequence = this.#sequence;
    this.#sequence += count;
    this.#bytes += pieces.reduce((sum: number, piece) => sum + bytesIn(piece), 0);
    const payload = {
      sequence,
      ...chunkOf(this.kind, join(pieces)),
      ...(count === 1 ? {} : { last_sequence: sequence + count - 1 }),
    };
    await this.#host.chunk(this.id, payload);
  }
}
