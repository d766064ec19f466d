/** The sending side of streams: results as numbered chunks (draft-benzing-accp-00, section 10.4). */
import { AccpError } from '../errors/accp-error.js';
import type { Json } from '../message/json.js';
import type { StreamChunk } from './chunk.js';
import { splitText } from './split-text.js';

export interface SplitOptions {
  /** How many chunks there will be. @default known for texts and arrays, unknown for all other sources */
  readonly total?: number | undefined;
  /** Texts longer than that many UTF-16 code units are cut, between words where they can be. @default texts stay whole */
  readonly maxText?: number | undefined;
}

/** What can be sent in chunks: a text, or items that come at once or in time. */
export type StreamSource = string | Iterable<Json> | AsyncIterable<Json>;

/**
 * The chunks of a source. Each is given when the one after it is known, so that the last can say that it is the last. A
 * source with nothing in it, the empty text too, is one final chunk whose data is `null`.
 *
 * When the source throws, the items that came before are given, none of them final, and the error is thrown on.
 *
 * @throws TypeError on options that are none
 * @throws AccpError E1004, from the loop, when the source has more or fewer chunks than `total`
 */
export function splitStream(source: StreamSource, options: SplitOptions = {}): AsyncIterable<StreamChunk> {
  const { total, maxText = Number.POSITIVE_INFINITY } = options;
  if (total !== undefined) checkCount('total', total);
  if (maxText !== Number.POSITIVE_INFINITY) checkCount('maxText', maxText);
  const whole = typeof source === 'string' ? [source] : source;
  if (!Array.isArray(whole)) return numbered(inPieces(whole, maxText), total);
  const pieces = (whole as readonly Json[]).flatMap((item) => piecesOf(item, maxText));
  // Of the empty text nothing is left, as of an empty array.
  const items = source === '' ? [] : pieces;
  return numbered(items, total ?? Math.max(items.length, 1));
}

async function* numbered(items: Iterable<Json> | AsyncIterable<Json>, total?: number): AsyncGenerator<StreamChunk> {
  let index = 0;
  for await (const { item, isLast } of lookedAhead(items)) {
    if (total !== undefined && isLast !== (index === total - 1)) throw unlike(total, isLast ? `${index + 1}` : 'more');
    yield chunkOf(index++, item, isLast, total);
  }
  if (index > 0) return;
  if (total !== undefined && total !== 1) throw unlike(total, 'none');
  yield chunkOf(0, null, true, total);
}

/** Items with whether they are the last. */
async function* lookedAhead<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<{ item: T; isLast: boolean }> {
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

function unlike(total: number, found: string): AccpError {
  return new AccpError({
    code: 'E1004',
    message: `the stream was to have ${total} chunks, and has ${found}`,
    help: 'leave total out where it is not known',
  });
}

function checkCount(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`${name} is a whole number from 1 on`);
}
