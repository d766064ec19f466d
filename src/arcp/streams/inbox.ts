/** The streams that somebody sends, for those who want to read one. */
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError, type ErrorBody } from '../protocol/errors.js';
import { STREAM_KINDS, type StreamKind, streamKindOf } from '../protocol/payloads/stream.js';
import type { Content } from './content.js';
import { StreamReader } from './reader.js';

/** Somebody who waits for a stream. */
interface Wish {
  readonly which: string | undefined;
  readonly found: (reader: StreamReader<StreamKind> | undefined) => void;
  readonly failed: (error: unknown) => void;
}

export interface InboxOptions {
  /** Tells the sender that a reader cannot keep up, or can again. */
  readonly pressure: (streamId: string, isFull: boolean) => void;
  /** Whether those who send are strangers: what is opened before anybody asks for it is kept, and who does not stop is given up. @default false */
  readonly isUpload?: boolean | undefined;
  /** Told of a stream that ends before its sender has ended it, and why. */
  readonly refused?: ((streamId: string, error: ArcpError) => void) | undefined;
}

export class StreamInbox {
  readonly #readers = new Map<string, StreamReader<StreamKind>>();
  #wishes: Wish[] = [];
  /** Why nothing more comes: the work has ended, or `error` ended what is heard of it. */
  #end: { readonly error?: unknown } | undefined;
  readonly #options: InboxOptions;
  /** Those that were opened, and that nobody has asked for yet. */
  #unasked: { readonly name: string | undefined; readonly reader: StreamReader<StreamKind> }[] = [];

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** The next stream that is opened and is of that kind, or has that name. */
  read<K extends StreamKind>(which?: K | string): AsyncIterableIterator<Content<K>> {
    // It is wished for now, and not when the first chunk is.
    const found = new Promise<StreamReader<StreamKind> | undefined>((resolve, reject) => {
      const at = this.#unasked.findIndex(({ name, reader }) => isMeant(which, reader.kind, name));
      if (at >= 0) {
        resolve(this.#unasked.splice(at, 1)[0]!.reader);
        return;
      }
      if (this.#end === undefined) this.#wishes.push({ which, found: resolve, failed: reject });
      else if (this.#end.error === undefined) resolve(undefined);
      else reject(this.#end.error);
    });
    // Whoever has asked for it may not read it.
    found.catch(() => {});
    return follow(found as unknown as Promise<StreamReader<K> | undefined>);
  }

  /** Something of a stream that came in. */
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

  /** One of them has failed, and its sender does not say so. */
  fail(streamId: string, error: ErrorBody): void {
    this.#readers.get(streamId)?.fail(error);
  }

  /**
   * Nothing more comes.
   *
   * @param error why, where it is not known whether there is more, as the connection has ended
   */
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
    // What nobody wants to read is not kept.
    if (at < 0 && this.#options.isUpload !== true) return;
    const { pressure, refused, isUpload } = this.#options;
    const reader = new StreamReader<StreamKind>({
      ...{ kind, isBounded: isUpload },
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
  return which === undefined || which === name || (which === kind && isKind(which));
}

async function* follow<K extends StreamKind>(
  found: Promise<StreamReader<K> | undefined>,
): AsyncGenerator<Content<K>, void, undefined> {
  const reader = await found;
  if (reader !== undefined) yield* reader;
}

function isKind(which: string): boolean {
  return (STREAM_KINDS as readonly string[]).includes(which);
}
