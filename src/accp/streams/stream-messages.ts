/** The messages that carry a stream (draft-benzing-accp-00, sections 4.1 and 10.4). */

import { AccpError, accpError } from '../errors.js';
import type { Json } from '../message/json.js';
import type { MessageInput } from '../message/message.js';
import { errorPayload } from '../profiles/error.js';
import type { StreamChunk } from './stream.js';

/** Options of {@link streamMessages}. */
export interface StreamMessagesOptions extends SplitOptions {
  /** The `correlation_id` that all frames of the stream share. */
  readonly correlationId: string;
  /** The operation, such as `infer` or `analyze`. */
  readonly operation: string;
  /** The name of the sender. @default the agent of the session */
  readonly agent?: string | undefined;
}

/**
 * Returns the messages of a stream, to be encoded in order: the chunks, then an `end` message.
 *
 * If the source throws, the last message is `fail:error` with the code of an AccpError or E9999, and without the message of the error,
 * which may be private; then the error is thrown. If you end the loop early, send `cancel` to inform the receiver.
 *
 * Source: draft-benzing-accp-00, sections 4.1 and 10.4.
 *
 * @throws TypeError if an option is invalid
 * @throws AccpError E1004, from the loop, if the source does not have `total` chunks
 * @example
 * for await (const message of streamMessages(answer, { correlationId: 'c1', operation: 'infer' })) {
 *   send(codec.encode(message, session));
 * }
 */
export function streamMessages(source: StreamSource, options: StreamMessagesOptions): AsyncIterable<MessageInput> {
  return messages(splitStream(source, options), options);
}

async function* messages(
  chunks: AsyncIterable<StreamChunk>,
  { correlationId: cid, operation, agent }: StreamMessagesOptions,
): AsyncGenerator<MessageInput> {
  const common = { ...(agent === undefined ? {} : { agent }), operation, envelope: { correlation_id: cid } };
  try {
    for await (const chunk of chunks) {
      yield { ...common, intent: 'stream', schema: 'ST', payload: payloadOf(chunk) };
    }
  } catch (thrown) {
    const code = thrown instanceof AccpError ? thrown.code : 'E9999';
    const payload = errorPayload(code, 'the_source_of_the_stream_failed');
    yield { ...common, intent: 'fail', operation: 'error', schema: 'ER', payload };
    throw thrown;
  }
  yield { ...common, intent: 'end' };
}

function payloadOf({ index, total, data, final }: StreamChunk): { readonly [key: string]: Json } {
  return {
    chunk_index: index,
    ...(total === undefined ? {} : { total_chunks: total }),
    data,
    // The default is false.
    ...(final ? { is_final: true } : {}),
  };
}

export interface SplitOptions {
  /** The number of chunks. @default the number of pieces of a text or array; unknown for other sources */
  readonly total?: number | undefined;
  /**
   * The maximum length of the text of a chunk, in UTF-16 code units; longer texts are cut, between words if possible.
   * @default Infinity
   */
  readonly maxText?: number | undefined;
}

/** The source of a stream: a text, or items that are available at once or over time. */
export type StreamSource = string | Iterable<Json> | AsyncIterable<Json>;

/**
 * Returns the chunks of a source, each when its successor is known, so that the last one is marked. An empty source is one chunk
 * with data `null`.
 */
export function splitStream(source: StreamSource, options: SplitOptions = {}): AsyncIterable<StreamChunk> {
  const { total, maxText = Number.POSITIVE_INFINITY } = options;
  if (total !== undefined) checkCount('total', total);
  if (maxText !== Number.POSITIVE_INFINITY) checkCount('maxText', maxText);
  const whole = typeof source === 'string' ? [source] : source;
  if (!Array.isArray(whole)) return numbered(inPieces(whole, maxText), total);
  const pieces = (whole as readonly Json[]).flatMap((item) => piecesOf(item, maxText));
  // An empty text has no pieces, like an empty array.
  const items = source === '' ? [] : pieces;
  return numbered(items, total ?? Math.max(items.length, 1));
}

async function* numbered(items: Iterable<Json> | AsyncIterable<Json>, total?: number): AsyncGenerator<StreamChunk> {
  let index = 0;
  for await (const { item, isLast } of withLookahead(items)) {
    if (total !== undefined && isLast !== (index === total - 1))
      throw wrongTotal(total, isLast ? `${index + 1}` : 'more');
    yield chunkOf(index++, item, isLast, total);
  }
  if (index > 0) return;
  if (total !== undefined && total !== 1) throw wrongTotal(total, 'none');
  yield chunkOf(0, null, true, total);
}

async function* withLookahead<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<{ item: T; isLast: boolean }> {
  let held: { readonly item: T } | null = null;
  try {
    for await (const item of items) {
      const before = held;
      held = { item };
      if (before !== null) yield { item: before.item, isLast: false };
    }
  } catch (thrown) {
    if (held !== null) yield { item: held.item, isLast: false };
    throw thrown;
  }
  if (held !== null) yield { item: held.item, isLast: true };
}

async function* inPieces(items: Iterable<Json> | AsyncIterable<Json>, maxText: number): AsyncGenerator<Json> {
  for await (const item of items) yield* piecesOf(item, maxText);
}

function piecesOf(item: Json, maxText: number): readonly Json[] {
  return typeof item === 'string' && item.length > maxText ? splitText(item, maxText) : [item];
}

function chunkOf(index: number, data: Json, final: boolean, total: number | undefined): StreamChunk {
  return { index, ...(total === undefined ? {} : { total }), data, final };
}

function wrongTotal(total: number, found: string): AccpError {
  return accpError('E1004', undefined, `expected ${total} chunks; got ${found}`, 'omit total if you do not know it');
}

function checkCount(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new TypeError(`${name} must be a positive integer; got ${value}`);
}

const SPACE = /\s/;

/** Cuts a text before white space if possible, else between characters, into pieces of at most `maxText` code units. */
function splitText(text: string, maxText: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.length - start <= maxText ? text.length : cutOf(text, start, start + maxText);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function cutOf(text: string, start: number, limit: number): number {
  for (let at = limit; at > start; at--) {
    if (SPACE.test(text[at]!)) return at;
  }
  const splitsPair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(limit - 1, limit + 1));
  if (!splitsPair) return limit;
  return limit - 1 > start ? limit - 1 : limit + 1;
}
