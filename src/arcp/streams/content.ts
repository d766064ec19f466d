/** What chunks carry (spec 003, "Streams": text, binary, structured events, logs, telemetry). */
import { byteLength } from '../../text/bytes.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import { ArcpError } from '../protocol/errors.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';

export interface StreamOptions<K extends StreamKind = StreamKind> {
  readonly kind: K;
  /** A name by which a reader can find it. */
  readonly name?: string | undefined;
  readonly contentType?: string | undefined;
  /** Bytes expected in all. */
  readonly expectedBytes?: number | undefined;
}

export interface StreamWriter<K extends StreamKind = StreamKind> {
  readonly id: string;
  readonly kind: K;
  /**
   * Writes content. Resolves at the pace of the reader, when it is stored. Text and bytes that are not awaited join into larger chunks.
   * After the reader cancelled, writes are ignored.
   *
   * @throws ArcpError `INVALID_ARGUMENT` if the kind does not carry it, `FAILED_PRECONDITION` after the end
   */
  readonly write: (content: Content<K>) => Promise<void>;
  /** Ends the stream after everything that was written. */
  readonly close: (reason?: string) => Promise<void>;
  /** Ends the stream with an error. */
  readonly fail: (error: unknown) => Promise<void>;
}

/** The contents of a stream by kind. */
export interface ContentOf {
  readonly text: string;
  readonly binary: Uint8Array;
  readonly event: unknown;
  readonly log: PayloadOf<'log'>;
  readonly telemetry: PayloadOf<'metric'>;
}

export type Content<K extends StreamKind = StreamKind> = ContentOf[K];

export const MAX_CHUNK_BYTES = 256 * 1024;

/** Returns the content members of a chunk. @throws ArcpError `INVALID_ARGUMENT` if the kind does not carry the content */
export function chunkOf(kind: StreamKind, content: unknown): Partial<PayloadOf<'stream.chunk'>> {
  switch (kind) {
    case 'text':
      if (typeof content === 'string') return { data: content };
      break;
    case 'binary':
      if (content instanceof Uint8Array) return { data: base64Of(content), encoding: 'base64' };
      break;
    case 'log':
      return { log: content };
    case 'telemetry':
      return { metric: content };
    case 'event':
      return { event: content };
  }
  throw new ArcpError('INVALID_ARGUMENT', `A stream of kind ${kind} does not carry this: ${typeof content}`);
}

/** Returns the content of a chunk. @throws ArcpError `INVALID_ARGUMENT` if the chunk does not fit the kind */
export function contentOf<K extends StreamKind>(kind: K, chunk: PayloadOf<'stream.chunk'>): Content<K> {
  const { data, event, log, metric } = chunk;
  if (kind === 'log') return (log ?? event) as Content<K>;
  if (kind === 'telemetry') return (metric ?? event) as Content<K>;
  if (kind === 'event') return (event === undefined ? data : event) as Content<K>;
  if (data === undefined) throw new ArcpError('INVALID_ARGUMENT', `A chunk of a stream of kind ${kind} has data`);
  if (kind === 'text' && chunk.encoding !== 'base64') return data as Content<K>;
  const bytes = bytesOf(data);
  return (kind === 'text' ? new TextDecoder().decode(bytes) : bytes) as Content<K>;
}

export function mayJoin(kind: StreamKind): boolean {
  return kind === 'text' || kind === 'binary';
}

export function sizeOf(content: unknown): number {
  if (typeof content === 'string' || content instanceof Uint8Array) return content.length;
  return 0;
}

/** Approximately the size on the wire: without base64 and escapes. */
export function bytesIn(content: unknown): number {
  return typeof content === 'string' ? byteLength(content) : sizeOf(content);
}

export function join(pieces: readonly unknown[]): unknown {
  if (pieces.length === 1) return pieces[0];
  if (typeof pieces[0] === 'string') return pieces.join('');
  const arrays = pieces as readonly Uint8Array[];
  const whole = new Uint8Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    whole.set(array, at);
    at += array.length;
  }
  return whole;
}

/** Does not cut surrogate pairs. */
export function cut(content: unknown, most: number): readonly unknown[] {
  if (sizeOf(content) <= most) return [content];
  const pieces: unknown[] = [];
  const whole = content as string | Uint8Array;
  for (let from = 0; from < whole.length; ) {
    let to = Math.min(whole.length, from + most);
    if (typeof whole === 'string' && to < whole.length && to - from > 1 && /[\ud800-\udbff]/.test(whole[to - 1]!)) to--;
    pieces.push(whole.slice(from, to));
    from = to;
  }
  return pieces;
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  // A call takes a limited number of arguments.
  for (let from = 0; from < bytes.length; from += 8192)
    text += String.fromCharCode(...bytes.subarray(from, from + 8192));
  return btoa(text);
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));
  } catch {
    throw new ArcpError('INVALID_ARGUMENT', 'The data of the chunk is no base64');
  }
}
