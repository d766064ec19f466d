/** Finds frames in any text: prose, Markdown, JSON strings, log lines, model output. Public as `pegwire/accp/find`. */
import moo from 'moo';
import { frameProseTokens, frameTokens } from '../../grammar/accp.tokens.js';
import type { ParseError } from '../text/errors.js';
import {
  closingQuote,
  enclosingQuote,
  type Found,
  firstOk,
  foundAt,
  type Opening,
  openings,
  quoteBefore,
  readings,
  tableCell,
} from '../text/prose.js';
import type { Frame } from './ast.js';
import { type ParseOptions, tryParseFrame } from './parse.js';

export type { Found } from '../text/prose.js';

/** An item of {@link findFrames}: a frame, or the error of a text that looks like one. */
export type FoundFrame = Found<Frame, ParseError>;

const prose = moo.compile(frameProseTokens);
const pieces = moo.compile(frameTokens);

/** The start of a row of a Markdown table. */
const TABLE_ROW = /^[ \t]*\|/;

/**
 * Finds the frames in a text. Everything that looks like a frame, `@agent>word` followed by `:` or `{`, is an item; items that do not
 * parse carry their error. A frame ends with its closing bracket, or at the quote or backtick that opened it. Items never overlap. In a
 * JSON string, escapes are decoded. The time is linear in the length of the text.
 *
 * @throws TypeError if `text` is not a string or an option is invalid
 * @example
 * for (const found of findFrames(modelOutput)) {
 *   if (found.ok) handle(found.value);
 *   else console.error(found.error.format());
 * }
 */
export function findFrames(text: string, options: ParseOptions = {}): FoundFrame[] {
  if (typeof text !== 'string') throw new TypeError(`findFrames: text must be a string; got ${typeof text}`);
  // Validates the options even if the text holds no frame.
  tryParseFrame('', options);
  const all = openings(text, prose.reset(text));
  let line = -1;
  let isRow = false;
  return all.map((opening, index) => {
    const { start, lineStart, lineEnd } = opening;
    // Tested once per line: its leading blanks may be many.
    if (lineStart !== line) isRow = TABLE_ROW.test(text.slice(lineStart, start));
    line = lineStart;
    // A frame cannot contain another opening, whose arrow would be escaped.
    const next = all[index + 1]?.start ?? text.length;
    return readAt(text, { ...opening, isRow }, Math.min(lineEnd, next), options);
  });
}

function readAt(
  text: string,
  opening: Opening & { readonly isRow: boolean },
  limit: number,
  options: ParseOptions,
): FoundFrame {
  const { start, stringEnd, isRow } = opening;
  const quote = quoteBefore(text, start) ?? enclosingQuote(opening);
  const closing = quote === null ? null : closingQuote(text, start, limit, quote);
  const source = text.slice(start, closing ?? Math.min(stringEnd ?? limit, limit));
  const candidates = readings(source, quote, stringEnd !== null);
  if (isRow && source.includes('\\|')) candidates.push(tableCell(source));

  return firstOk(candidates, (candidate) => {
    const frame = candidate.text.slice(0, frameLength(candidate.text));
    return foundAt(text, start, candidate, frame, tryParseFrame(frame, options));
  });
}

/** Returns the end of the payload, or of the metadata directly after it; without them, of the valid characters. */
function frameLength(text: string): number {
  let depth = 0;
  let blocks = 0;
  let firstInvalid: number | undefined;
  for (const { type, text: piece, offset } of pieces.reset(text)) {
    if (type === 'invalid') firstInvalid ??= offset;
    else if (type === 'open') depth++;
    else if (type === 'close' && depth > 0) depth--;
    else continue;
    if (type !== 'close' || depth > 0) continue;
    blocks++;
    const end = offset + piece.length;
    if (blocks === 2 || text[end] !== '[') return end;
  }
  return firstInvalid ?? text.length;
}
