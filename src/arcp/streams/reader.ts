/** The reading end of streams: in order, without gaps, at the rate of the reader. */
import { deferred } from '../../async/listeners.js';
import { Queue } from '../../async/queue.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError, asArcpError, type ErrorBody } from '../protocol/errors.js';
import { type StreamKind, streamKindOf } from '../protocol/payloads/streaming.js';
import { type Content, contentOf, sizeOf } from './content.js';

type Chunk = PayloadOf<'stream.chunk'>;

/** The numbers of waiting chunks at which the sender is paused and resumed. */
const HIGH_WATER_MARK = 64;
const LOW_WATER_MARK = 16;
const HIGH_WATER_SIZE = 1024 * 1024;
const MAX_AHEAD = 1024;

interface ReaderOptions<K extends StreamKind> {
  readonly kind: K;
  readonly onPressure: (isFull: boolean) => void;
  readonly onReturn: () => void;
  readonly onTaken?: (() => void) | undefined;
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
  #waiters: (() => void)[] = [];

  get kind(): K {
    return this.#options.kind;
  }

  constructor(options: ReaderOptions<K>) {
    this.#options = options;
  }

  /** The number of chunks that wait to be read. */
  get waiting(): number {
    return this.#ready.size + this.#ahead.size;
  }

  push(chunk: Chunk): void {
    // Without sequence numbers, the order of the transport applies.
    const { sequence = this.#next } = chunk;
    if (this.#end !== undefined || sequence < this.#next || this.#ahead.has(sequence)) return;
    this.#ahead.set(sequence, chunk);
    for (let next = this.#ahead.get(this.#next); next !== undefined; next = this.#ahead.get(this.#next)) {
      this.#ahead.delete(this.#next);
      this.#next = (next.last_sequence ?? this.#next) + 1;
      this.#take(next);
    }
    if (this.#ahead.size > MAX_AHEAD)
      this.#abort(new ArcpError('DATA_LOSS', `Chunk ${this.#next} of the stream is missing`));
    this.#changed();
  }

  close(total?: number): void {
    if (this.#ahead.size > 0 || (total !== undefined && total > this.#next))
      this.#abort(new ArcpError('DATA_LOSS', `Chunk ${this.#next} of the stream is missing`));
    this.#end ??= {};
    this.#changed();
  }

  fail(error: ErrorBody | Error): void {
    this.#end ??= { error: error instanceof Error ? error : ArcpError.fromBody(error) };
    this.#changed();
  }

  /** Returns the next content. Earlier chunks are returned before an error is thrown. */
  async next(): Promise<IteratorResult<Content<K>>> {
    for (;;) {
      if (this.#ready.size > 0) return { done: false, value: this.#shift() };
      if (this.#end !== undefined) {
        const { error } = this.#end;
        this.#end = {};
        if (error !== undefined) throw error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  async return(): Promise<IteratorResult<Content<K>>> {
    this.#end = {};
    this.#ready.clear();
    this.#size = 0;
    this.#resumeSender();
    this.#options.onReturn();
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
      this.#abort(asArcpError(error));
      return;
    }
    this.#ready.push(content);
    this.#size += sizeOf(content);
    if (this.#isFull || (this.#ready.size < HIGH_WATER_MARK && this.#size < HIGH_WATER_SIZE)) return;
    this.#isFull = true;
    this.#options.onPressure(true);
  }

  #abort(error: ArcpError): void {
    if (this.#end !== undefined) return;
    this.#ahead.clear();
    this.fail(error);
    this.#options.onFailure?.(error);
  }

  #shift(): Content<K> {
    const content = this.#ready.take();
    this.#size -= sizeOf(content);
    if (this.#ready.size <= LOW_WATER_MARK && this.#size < HIGH_WATER_SIZE / 2) this.#resumeSender();
    this.#options.onTaken?.();
    return content;
  }

  #resumeSender(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#options.onPressure(false);
  }

  #changed(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

interface PendingRead {
  readonly which: string | undefined;
  readonly found: (reader: StreamReader<StreamKind> | undefined) => void;
  readonly failed: (error: unknown) => void;
}

interface InboxOptions {
  readonly onPressure: (streamId: string, isFull: boolean) => void;
  /** If true, streams wait until they are read. @default false */
  readonly isUpload?: boolean | undefined;
  readonly onTaken?: ((streamId: string) => void) | undefined;
  readonly onRefused?: ((streamId: string, error: ArcpError) => void) | undefined;
}

export class StreamInbox {
  readonly #readers = new Map<string, StreamReader<StreamKind>>();
  #pendingReads: PendingRead[] = [];
  /** Set when no more streams can arrive; with an error if some may have been lost. */
  #end: { readonly error?: unknown } | undefined;
  readonly #options: InboxOptions;
  #unclaimed: { readonly name: string | undefined; readonly reader: StreamReader<StreamKind> }[] = [];

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  read<K extends StreamKind>(which?: K | string): AsyncIterableIterator<Content<K>> {
    // Registers the reader now, not when it reads the first chunk.
    const { promise, resolve, reject } = deferred<StreamReader<StreamKind> | undefined>();
    const at = this.#unclaimed.findIndex(({ name, reader }) => isRequested(which, reader.kind, name));
    if (at >= 0) resolve(this.#unclaimed.splice(at, 1)[0]!.reader);
    else if (this.#end === undefined) this.#pendingReads.push({ which, found: resolve, failed: reject });
    else if (this.#end.error === undefined) resolve(undefined);
    else reject(this.#end.error);
    return follow(promise as unknown as Promise<StreamReader<K> | undefined>);
  }

  take(message: Envelope): void {
    const { stream_id: id } = message;
    if (id === undefined) return;
    if (message.type === 'stream.open') this.#open(id, message);
    const reader = this.#readers.get(id);
    if (reader === undefined) return;
    if (message.type === 'stream.chunk') reader.push(message.payload);
    else if (message.type === 'stream.close') reader.close(message.payload.total_chunks);
    else if (message.type === 'stream.error') reader.fail(message.payload);
  }

  fail(streamId: string, error: ErrorBody): void {
    this.#readers.get(streamId)?.fail(error);
  }

  /** Returns the number of chunks of a stream that wait to be read. */
  waiting(streamId: string): number {
    return this.#readers.get(streamId)?.waiting ?? 0;
  }

  /** Ends all streams. @param error set if some streams may have been lost */
  end(error?: unknown): void {
    this.#end ??= { error };
    for (const { found, failed } of this.#pendingReads.splice(0)) {
      if (error === undefined) found(undefined);
      else failed(error);
    }
    for (const reader of this.#readers.values())
      reader.fail(error instanceof Error ? error : new ArcpError('ABORTED', 'The job ended before the stream'));
    this.#readers.clear();
  }

  #open(id: string, { payload }: Envelope<'stream.open'>): void {
    const kind = streamKindOf(payload.kind);
    const at = this.#pendingReads.findIndex(({ which }) => isRequested(which, kind, payload.name));
    // A stream that was not requested is dropped.
    if (at < 0 && this.#options.isUpload !== true) return;
    const { onPressure: pressure, onRefused: refused, onTaken: taken } = this.#options;
    const reader = new StreamReader<StreamKind>({
      kind,
      onPressure: (isFull) => pressure(id, isFull),
      onReturn: () => this.#readers.delete(id),
      onTaken: () => taken?.(id),
      onFailure: (error) => {
        this.#readers.delete(id);
        refused?.(id, error);
      },
    });
    this.#readers.set(id, reader);
    if (at < 0) this.#unclaimed.push({ name: payload.name, reader });
    else this.#pendingReads.splice(at, 1)[0]!.found(reader);
  }
}

function isRequested(which: string | undefined, kind: StreamKind, name: string | undefined): boolean {
  return which === undefined || which === name || which === kind;
}

async function* follow<K extends StreamKind>(
  found: Promise<StreamReader<K> | undefined>,
): AsyncGenerator<Content<K>, void, undefined> {
  const reader = await found;
  if (reader !== undefined) yield* reader;
}
