/** A stream that a job writes. */
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { StreamKind } from '../../protocol/payloads/stream.js';
import { bytesIn, type Content, chunkOf, cut, join, MAX_CHUNK_BYTES, mayJoin, sizeOf } from '../../streams/content.js';
import type { Pacer } from '../../streams/pacer.js';
import type { Attempt } from '../jobs/attempt.js';
import type { StreamOptions, StreamWriter } from './contract.js';

/** Where it stands which streams of a job are open: those of an attempt that was lost are ended by the next. */
export const openStreamsOf = (jobId: string): string => `stream:${jobId}`;

interface Waiting {
  readonly pieces: unknown[];
  count: number;
  size: number;
  readonly resolve: (() => void)[];
  readonly reject: ((error: unknown) => void)[];
}

export interface WriterHost {
  readonly attempt: Attempt;
  readonly pacer: Pacer;
  /** Resolves when the session has taken what was sent before; `undefined` when it has, or there is nobody. */
  readonly keptUp: () => Promise<void> | undefined;
  readonly onEnd: () => void;
}

export class JobStream<K extends StreamKind> implements StreamWriter<K> {
  readonly id = newId('str');
  readonly kind: K;
  readonly #host: WriterHost;
  /** What was written and not yet sent. */
  #waiting: Waiting[] = [];
  #sending: Promise<void> | undefined;
  #sequence = 0;
  #bytes = 0;
  #isOver = false;

  constructor(host: WriterHost, { kind, name, contentType, expectedBytes }: StreamOptions<K>) {
    this.kind = kind;
    this.#host = host;
    const { attempt } = host;
    const related = attempt.spec.isDurable ? { related_job_id: attempt.row.jobId } : {};
    const payload = {
      ...{ kind, ...related, ...(kind === 'binary' ? ({ encoding: 'base64' } as const) : {}) },
      ...(name === undefined ? {} : { name }),
      ...(contentType === undefined ? {} : { content_type: contentType }),
      ...(expectedBytes === undefined ? {} : { expected_bytes: expectedBytes }),
    };
    const { jobId } = attempt.row;
    void attempt.outbox.add({
      events: [attempt.voice.event('stream.open', payload, { streamId: this.id })],
      records: [{ scope: openStreamsOf(jobId), key: this.id, value: kind, owner: jobId }],
    });
  }

  readonly write = async (content: Content<K>): Promise<void> => {
    if (this.#isOver) throw new ArcpError('FAILED_PRECONDITION', 'The stream has ended');
    chunkOf(this.kind, content);
    const most = Math.min(MAX_CHUNK_BYTES, this.#host.pacer.maxBytes);
    await Promise.all(cut(content, most).map((piece) => this.#add(piece, most)));
  };

  readonly close = async (reason?: string): Promise<void> => {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#sending;
    const payload = {
      ...{ total_chunks: this.#sequence, ...(reason === undefined ? {} : { reason }) },
      ...(mayJoin(this.kind) ? { total_bytes: this.#bytes } : {}),
    };
    await this.#end('stream.close', payload);
  };

  readonly fail = async (error: unknown): Promise<void> => {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#sending;
    await this.#end('stream.error', asArcpError(error).toBody());
  };

  /** What waits is sent at once, whatever the pace: the job ends. */
  hurry(): void {
    this.#host.pacer.release();
  }

  #add(piece: unknown, most: number): Promise<void> {
    const size = sizeOf(piece);
    return new Promise((resolve, reject) => {
      const last = this.#waiting.at(-1);
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
    const { pacer, keptUp, attempt } = this.#host;
    // All that is written in the same turn may become one chunk.
    await null;
    while (this.#waiting.length > 0) {
      try {
        await pacer.turn(attempt.signal);
        await keptUp();
      } catch {
        // The work is to end: what it has said is sent all the same.
      }
      const next = this.#waiting.shift()!;
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
    const { attempt } = this.#host;
    const sequence = this.#sequence;
    this.#sequence += count;
    this.#bytes += pieces.reduce((sum: number, piece) => sum + bytesIn(piece), 0);
    const payload = {
      ...{ sequence, ...chunkOf(this.kind, join(pieces)) },
      ...(count === 1 ? {} : { last_sequence: sequence + count - 1 }),
    };
    await attempt.outbox.add({ events: [attempt.voice.event('stream.chunk', payload, { streamId: this.id })] });
  }

  async #end(type: 'stream.close' | 'stream.error', payload: object): Promise<void> {
    const { attempt, onEnd } = this.#host;
    onEnd();
    await attempt.outbox.add({
      events: [attempt.voice.event(type, payload as never, { streamId: this.id })],
      records: [{ scope: openStreamsOf(attempt.row.jobId), key: this.id, value: null }],
    });
  }
}
