/** The contents of stream chunks (spec 003, "Streams": text, binary, structured events, logs, telemetry). */
import { byteLength } from '../../text/bytes.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import { ArcpError } from '../protocol/errors.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';

/** Options of a stream. */
export interface StreamOptions<K extends StreamKind = StreamKind> {
  /** The kind of its contents. */
  readonly kind: K;
  /** A name by which the reader can find the stream. */
  readonly name?: string | undefined;
  /** The media type of the contents. */
  readonly contentType?: string | undefined;
  /** The expected length of the stream in bytes. */
  readonly expectedBytes?: number | undefined;
}

/** The writing end of a stream. */
export interface StreamWriter<K extends StreamKind = StreamKind> {
  /** The id of the stream. */
  readonly id: string;
  /** The kind of its contents. */
  readonly kind: K;
  /**
   * Writes content. Resolves when the chunk is stored, at the rate that the reader allows. Text and bytes that are not awaited join into larger
   * chunks. After the reader has cancelled the stream, writes are ignored.
   *
   * @throws ArcpError `INVALID_ARGUMENT` if the content does not fit the kind; `FAILED_PRECONDITION` after the end
   */
  readonly write: (content: Content<K>) => Promise<void>;
  /** Ends the stream after all that was written. */
  readonly close: (reason?: string) => Promise<void>;
  /** Ends the stream with an error. */
  readonly fail: (error: unknown) => Promise<void>;
}

/** The type of content by kind of stream. */
export interface ContentOf {
  readonly text: string;
  readonly binary: Uint8Array;
  /** Any JSON value. */
  readonly event: unknown;
  readonly log: PayloadOf<'log'>;
  readonly telemetry: PayloadOf<'metric'>;
}

/** One content of a stream. */
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
  throw new ArcpError('INVALID_ARGUMENT', `A stream of kind ${kind} cannot carry a value of type ${typeof content}`);
}

/** Returns the content of a chunk. @throws ArcpError `INVALID_ARGUMENT` if the chunk does not fit the kind */
export function contentOf<K extends StreamKind>(kind: K, chunk: PayloadOf<'stream.chunk'>): Content<K> {
  const { data, event, log, metric } = chunk;
  if (kind === 'log') return (log ?? event) as Content<K>;
  if (kind === 'telemetry') return (metric ?? event) as Content<K>;
  if (kind === 'event') return (event === undefined ? data : event) as Content<K>;
  if (data === undefined) throw new ArcpError('INVALID_ARGUMENT', `A chunk of a stream of kind ${kind} must have data`);
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

/** Returns the approximate size on the wire, without base64 and escapes. */
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

/** Splits content into pieces of limited length, but not within surrogate pairs. */
export function cut(content: unknown, maxLength: number): readonly unknown[] {
  if (sizeOf(content) <= maxLength) return [content];
  const pieces: unknown[] = [];
  const whole = content as string | Uint8Array;
  for (let from = 0; from < whole.length; ) {
    let to = Math.min(whole.length, from + maxLength);
    if (typeof whole === 'string' && to < whole.length && to - from > 1 && /[\ud800-\udbff]/.test(whole[to - 1]!)) to--;
    pieces.push(whole.slice(from, to));
    from = to;
  }
  return pieces;
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  // The number of arguments of a call is limited.
  for (let from = 0; from < bytes.length; from += 8192)
    text += String.fromCharCode(...bytes.subarray(from, from + 8192));
  return btoa(text);
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));
  } catch {
    throw new ArcpError('INVALID_ARGUMENT', 'The data of the chunk are not valid base64');
  }
}
