/** A stream that is being written, whoever sends it and however that is kept. */
import { ignoringRejections } from '../../async/listeners.js';
import { Queue } from '../../async/queue.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import { ArcpError, asArcpError } from '../protocol/errors.js';
import { newId } from '../protocol/ids.js';
import type { StreamKind } from '../protocol/payloads/stream.js';
import { bytesIn, type Content, chunkOf, cut, join, MAX_CHUNK_BYTES, mayJoin, sizeOf } from './content.js';
import type { StreamOptions, StreamWriter } from './contract.js';
import type { Pacer } from './pacer.js';

interface Waiting {
  readonly pieces: unknown[];
  count: number;
  size: number;
  readonly resolve: (() => void)[];
  readonly reject: ((error: unknown) => void)[];
}

/** Who sends it. What a promise of these says is that it is on its way, and not lost. */
export interface WriterHost {
  readonly pacer: Pacer;
  /** Aborted when the work is to end. */
  readonly signal: AbortSignal;
  /** Resolves when the reader has taken what was sent before; `undefined` when it has, or there is nobody. */
  readonly keptUp: () => Promise<void> | undefined;
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
  /** What was written and not yet sent. */
  readonly #waiting = new Queue<Waiting>();
  #sending: Promise<void> | undefined;
  #sequence = 0;
  #bytes = 0;
  #isOver = false;
  /** Its reader wants no more of it. */
  #isUnwanted = false;

  constructor(host: WriterHost, { kind, name, contentType, expectedBytes }: StreamOptions<K>) {
    this.kind = kind;
    this.#host = host;
    host.open(this.id, {
      ...{ kind, ...(kind === 'binary' ? ({ encoding: 'base64' } as const) : {}) },
      ...(name === undefined ? {} : { name }),
      ...(contentType === undefined ? {} : { content_type: contentType }),
      ...(expectedBytes === undefined ? {} : { expected_bytes: expectedBytes }),
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
      ...{ total_chunks: this.#sequence, ...(reason === undefined ? {} : { reason }) },
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

  /** Its reader wants no more of it. The work goes on: what it still writes goes nowhere. */
  async cancel(error: ArcpError): Promise<void> {
    if (this.#isOver) return;
    this.#isUnwanted = true;
    while (this.#waiting.size > 0) for (const done of this.#waiting.take().resolve) done();
    this.hurry();
    await this.fail(error);
  }

  /** What waits is sent at once, whatever the pace: the job ends. */
  hurry(): void {
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
    const { pacer, keptUp, signal } = this.#host;
    // All that is written in the same turn may become one chunk.
    await null;
    while (this.#waiting.size > 0) {
      try {
        await pacer.turn(signal);
        await keptUp();
      } catch {
        // The work is to end: what it has said is sent all the same.
      }
      // Nobody wants it any more.
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
      ...{ sequence, ...chunkOf(this.kind, join(pieces)) },
      ...(count === 1 ? {} : { last_sequence: sequence + count - 1 }),
    };
    await this.#host.chunk(this.id, payload);
  }
}
