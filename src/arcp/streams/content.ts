/** What chunks carry (spec 003, "Streams": text, binary, structured events, logs, telemetry). */
import { byteLength } from '../../text/bytes.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import { ArcpError } from '../protocol/errors.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';

export interface StreamOptions<K extends StreamKind = StreamKind> {
  readonly kind: K;
  /** What it is called, for a reader who looks for it. */
  readonly name?: string | undefined;
  readonly contentType?: string | undefined;
  /** Bytes that are expected in all. */
  readonly expectedBytes?: number | undefined;
}

/** What is written to. */
export interface StreamWriter<K extends StreamKind = StreamKind> {
  readonly id: string;
  readonly kind: K;
  /**
   * Writes something. Resolves when it is kept, and the reader can take more: whoever waits for it goes as fast as the reader. What is written
   * faster is joined into larger chunks, where the kind allows it. Where its reader has cancelled the stream, it goes nowhere.
   *
   * @throws ArcpError `INVALID_ARGUMENT` on what the kind does not carry, `FAILED_PRECONDITION` after its end
   */
  readonly write: (content: Content<K>) => Promise<void>;
  /** Nothing more is written. What was is sent before. */
  readonly close: (reason?: string) => Promise<void>;
  /** It has failed. */
  readonly fail: (error: unknown) => Promise<void>;
}

/** What is written to a stream of a kind, and read from one. */
export interface ContentOf {
  readonly text: string;
  readonly binary: Uint8Array;
  readonly event: unknown;
  readonly log: PayloadOf<'log'>;
  readonly telemetry: PayloadOf<'metric'>;
}

export type Content<K extends StreamKind = StreamKind> = ContentOf[K];

/** Most bytes of one chunk. */
export const MAX_CHUNK_BYTES = 256 * 1024;

/**
 * The members of a chunk that say what it carries.
 *
 * @throws ArcpError `INVALID_ARGUMENT` on what a stream of this kind does not carry
 */
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

/**
 * What a chunk carries.
 *
 * @throws ArcpError `INVALID_ARGUMENT` on what is no chunk of this kind
 */
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

/** Whether two pieces may become one: of text and bytes nobody sees where they were cut. */
export function mayJoin(kind: StreamKind): boolean {
  return kind === 'text' || kind === 'binary';
}

export function sizeOf(content: unknown): number {
  if (typeof content === 'string' || content instanceof Uint8Array) return content.length;
  return 0;
}

/** What it takes on the wire, but for base64 and escapes. */
export function bytesIn(content: unknown): number {
  return typeof content === 'string' ? byteLength(content) : sizeOf(content);
}

/** Of text or of bytes. */
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

/** Pieces that are no longer than so much. A pair of surrogates is not cut. */
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
  // Few arguments at a time: a call takes only so many.
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
