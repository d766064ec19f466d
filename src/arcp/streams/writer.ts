/**
 * Streams that are being written, whoever sends them, at the pace of their readers (spec 003, "Streams": "Senders SHOULD slow or batch
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

export interface Pace {
  /** Chunks per second; 0 pauses. */
  readonly rate: number;
  readonly maxBytes: number;
}

const UNBOUNDED: Pace = { rate: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

/** A receiver without room is a pause. */
export function paceOf({ desired_rate_per_second, buffer_remaining_bytes }: PayloadOf<'backpressure'>): Pace {
  const { rate, maxBytes } = UNBOUNDED;
  if (buffer_remaining_bytes === 0) return { rate: 0, maxBytes };
  return { rate: desired_rate_per_second ?? rate, maxBytes: buffer_remaining_bytes ?? maxBytes };
}

/** What a slow reader tells the sender: a pause, or its end. */
export function pressureOf(isFull: boolean): PayloadOf<'backpressure'> {
  return isFull ? { desired_rate_per_second: 0, buffer_remaining_bytes: 0, reason: 'slow_reader' } : {};
}

/** Lets chunks through one by one, at the pace of the slowest reader. */
export class Pacer {
  readonly #paces = new Map<string, Pace>();
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #isReleased = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  set(who: string, pace: Pace): void {
    this.#paces.set(who, pace);
    this.#again();
  }

  unset(who: readonly string[]): void {
    for (const one of who) this.#paces.delete(one);
    this.#again();
  }

  release(): void {
    this.#isReleased = true;
    this.#again();
  }

  get maxBytes(): number {
    return Math.min(...[...this.#paces.values()].map(({ maxBytes }) => maxBytes));
  }

  /** Resolves when the next chunk may go. For one caller at a time. */
  async waitForTurn(signal: AbortSignal): Promise<void> {
    for (let wait = this.#wait(); wait > 0; wait = this.#wait()) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', this.#again, { once: true });
        this.#cancelTimer = after(wait, this.#again);
      });
      signal.removeEventListener('abort', this.#again);
    }
    this.#last = this.#now();
  }

  readonly #again = (): void => {
    this.#cancelTimer?.();
    this.#wake?.();
    this.#wake = undefined;
  };

  /** @returns milliseconds; infinite in a pause */
  #wait(): number {
    const rate = Math.min(...[...this.#paces.values()].map(({ rate: wanted }) => wanted));
    if (rate === Number.POSITIVE_INFINITY || this.#isReleased) return 0;
    return rate === 0 ? Number.POSITIVE_INFINITY : this.#last + 1000 / rate - this.#now();
  }
}

interface Waiting {
  readonly pieces: unknown[];
  count: number;
  size: number;
  readonly resolve: (() => void)[];
  readonly reject: ((error: unknown) => void)[];
}

/** The sender. Its promises resolve when a chunk is on its way. */
interface WriterHost {
  readonly pacer: Pacer;
  readonly signal: AbortSignal;
  /** Resolves when the reader has taken everything before; `undefined` if it has, or there is no reader. */
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
  readonly #waiting = new Queue<Waiting>();
  #sending: Promise<void> | undefined;
  #sequence = 0;
  #bytes = 0;
  #isOver = false;
  #isUnwanted = false;

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
    if (this.#isOver && !this.#isUnwanted) throw new ArcpError('FAILED_PRECONDITION', 'The stream has ended');
    chunkOf(this.kind, content);
    if (this.#isUnwanted) return;
    const most = Math.min(MAX_CHUNK_BYTES, this.#host.pacer.maxBytes);
    await Promise.all(cut(content, most).map((piece) => this.#add(piece, most)));
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

  /** Its reader cancelled it. The work goes on; further writes are ignored. */
  async cancel(error: ArcpError): Promise<void> {
    if (this.#isOver) return;
    this.#isUnwanted = true;
    while (this.#waiting.size > 0) for (const done of this.#waiting.take().resolve) done();
    this.flush();
    await this.fail(error);
  }

  /** Sends everything at once, since the job ends. */
  flush(): void {
    this.#host.pacer.release();
  }

  #add(piece: unknown, most: number): Promise<void> {
    const size = sizeOf(piece);
    return new Promise((resolve, reject) => {
      const last = this.#waiting.last;
      if (last !== undefined && mayJoin(this.kind) && last.size + size <= most) {
        last.pieces.push(piece);
        last.count++;
        last.size += size;
        last.resolve.push(resolve);
        last.reject.push(reject);
      } else this.#waiting.push({ pieces: [piece], count: 1, size, resolve: [resolve], reject: [reject] });
      this.#sending ??= this.#send();
    });
  }

  async #send(): Promise<void> {
    const { pacer, drained, signal } = this.#host;
    // Writes of the same turn may join into one chunk.
    await null;
    while (this.#waiting.size > 0) {
      try {
        await pacer.waitForTurn(signal);
        await drained();
      } catch {
        // The work is to end; its chunks are sent all the same.
      }
      if (this.#waiting.size === 0) break;
      const next = this.#waiting.take();
      try {
        await this.#chunk(next);
        for (const resolve of next.resolve) resolve();
      } catch (error) {
        for (const reject of next.reject) reject(error);
      }
    }
    this.#sending = undefined;
  }

  async #chunk({ pieces, count }: Waiting): Promise<void> {
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
