/** Streams as somebody reads them: in order, without gaps, at the reader's own pace. */
import { deferred } from '../../async/listeners.js';
import { Queue } from '../../async/queue.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError, asArcpError, type ErrorBody } from '../protocol/errors.js';
import { type StreamKind, streamKindOf } from '../protocol/payloads/streaming.js';
import { type Content, contentOf, sizeOf } from './content.js';

type Chunk = PayloadOf<'stream.chunk'>;

/** Waiting chunks at which the sender is paused and resumed. */
const HIGH = 64;
const LOW = 16;
const HIGH_SIZE = 1024 * 1024;
/** Bounds for a sender that does not pause. */
const MOST = 100 * HIGH;
const MOST_SIZE = 16 * HIGH_SIZE;
const MOST_AHEAD = 1024;

interface ReaderOptions<K extends StreamKind> {
  readonly kind: K;
  readonly onPressure: (isFull: boolean) => void;
  readonly onLeave: () => void;
  /** Gives up a sender that does not pause. Not for replays, which come at full speed. @default false */
  readonly isBounded?: boolean | undefined;
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

  push(chunk: Chunk): void {
    // Without numbers, the order of the transport counts.
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

  /** Earlier chunks are read before an error is thrown. */
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

interface Wish {
  readonly which: string | undefined;
  readonly found: (reader: StreamReader<StreamKind> | undefined) => void;
  readonly failed: (error: unknown) => void;
}

interface InboxOptions {
  readonly pressure: (streamId: string, isFull: boolean) => void;
  /** The senders are untrusted: streams are kept until they are read, and a sender that does not pause is given up. @default false */
  readonly isUpload?: boolean | undefined;
  readonly refused?: ((streamId: string, error: ArcpError) => void) | undefined;
}

export class StreamInbox {
  readonly #readers = new Map<string, StreamReader<StreamKind>>();
  #wishes: Wish[] = [];
  /** Set when no more streams come; `error` if it is unknown whether there were more. */
  #end: { readonly error?: unknown } | undefined;
  readonly #options: InboxOptions;
  #unasked: { readonly name: string | undefined; readonly reader: StreamReader<StreamKind> }[] = [];

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  read<K extends StreamKind>(which?: K | string): AsyncIterableIterator<Content<K>> {
    // Registered now, not when the first chunk is read.
    const { promise, resolve, reject } = deferred<StreamReader<StreamKind> | undefined>();
    const at = this.#unasked.findIndex(({ name, reader }) => isMeant(which, reader.kind, name));
    if (at >= 0) resolve(this.#unasked.splice(at, 1)[0]!.reader);
    else if (this.#end === undefined) this.#wishes.push({ which, found: resolve, failed: reject });
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

  /** @param error if it is unknown whether there were more streams */
  end(error?: unknown): void {
    this.#end ??= { error };
    for (const { found, failed } of this.#wishes.splice(0)) {
      if (error === undefined) found(undefined);
      else failed(error);
    }
    const why = error instanceof Error ? error : new ArcpError('ABORTED', 'The work ended before the stream');
    for (const reader of this.#readers.values()) reader.fail(why);
    this.#readers.clear();
  }

  #open(id: string, { payload }: Envelope<'stream.open'>): void {
    const kind = streamKindOf(payload.kind);
    const at = this.#wishes.findIndex(({ which }) => isMeant(which, kind, payload.name));
    // Unrequested streams are dropped.
    if (at < 0 && this.#options.isUpload !== true) return;
    const { pressure, refused, isUpload } = this.#options;
    const reader = new StreamReader<StreamKind>({
      kind,
      isBounded: isUpload,
      onPressure: (isFull) => pressure(id, isFull),
      onLeave: () => this.#readers.delete(id),
      onFailure: (error) => {
        this.#readers.delete(id);
        refused?.(id, error);
      },
    });
    this.#readers.set(id, reader);
    if (at < 0) this.#unasked.push({ name: payload.name, reader });
    else this.#wishes.splice(at, 1)[0]!.found(reader);
  }
}

function isMeant(which: string | undefined, kind: StreamKind, name: string | undefined): boolean {
  return which === undefined || which === name || which === kind;
}

async function* follow<K extends StreamKind>(
  found: Promise<StreamReader<K> | undefined>,
): AsyncGenerator<Content<K>, void, undefined> {
  const reader = await found;
  if (reader !== undefined) yield* reader;
}
