/** The streams of an invocation, for those who want to read one. */
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import { STREAM_KINDS, type StreamKind, streamKindOf } from '../protocol/payloads/stream.js';
import type { Content } from '../streams/content.js';
import { StreamReader } from '../streams/reader.js';

/** Somebody who waits for a stream. */
interface Wish {
  readonly which: string | undefined;
  readonly found: (reader: StreamReader<StreamKind> | undefined) => void;
}

export class InvocationStreams {
  readonly #readers = new Map<string, StreamReader<StreamKind>>();
  #wishes: Wish[] = [];
  #hasEnded = false;
  readonly #pressure: (streamId: string, isFull: boolean) => void;

  /** @param pressure tells the sender that a reader cannot keep up, or can again */
  constructor(pressure: (streamId: string, isFull: boolean) => void) {
    this.#pressure = pressure;
  }

  /** The next stream that is opened and is of that kind, or has that name. */
  read<K extends StreamKind>(which?: K | string): AsyncIterableIterator<Content<K>> {
    // It is wished for now, and not when the first chunk is.
    const found = new Promise<StreamReader<StreamKind> | undefined>((resolve) => {
      if (this.#hasEnded) resolve(undefined);
      else this.#wishes.push({ which, found: resolve });
    });
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

  /** Nothing more comes. */
  end(error?: unknown): void {
    this.#hasEnded = true;
    for (const { found } of this.#wishes.splice(0)) found(undefined);
    for (const reader of this.#readers.values())
      reader.fail(error instanceof Error ? error : new ArcpError('ABORTED', 'The work ended before the stream'));
    this.#readers.clear();
  }

  #open(id: string, { payload }: Envelope<'stream.open'>): void {
    const kind = streamKindOf(payload.kind);
    const at = this.#wishes.findIndex(
      ({ which }) => which === undefined || which === payload.name || (which === kind && isKind(which)),
    );
    // What nobody wants to read is not kept.
    if (at < 0) return;
    const [wish] = this.#wishes.splice(at, 1);
    const reader = new StreamReader<StreamKind>({
      kind,
      onPressure: (isFull) => this.#pressure(id, isFull),
      onLeave: () => this.#readers.delete(id),
    });
    this.#readers.set(id, reader);
    wish!.found(reader);
  }
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
