/** Finding frames in any text: prose, Markdown, JSON strings, log lines, model output. Public as `pegwire/accp/find`. */
import moo from 'moo';
import { frameProseTokens, frameTokens } from '../../grammar/accp.tokens.js';
import type { ParseError } from '../text/errors.js';
import { decodeJson, type Found, type Opening, openings } from '../text/prose.js';
import type { Frame } from './ast.js';
import { type ParseOptions, tryParseFrame } from './parse.js';

export type FoundFrame = Found<Frame, ParseError>;

const prose = moo.compile(frameProseTokens);
const pieces = moo.compile(frameTokens);

/**
 * Finds what looks like a frame: `@agent>word` and then `:` or `{`. One that does not parse is reported with its error, not
 * dropped. Found items never overlap; the work grows linearly with the text. In a JSON string, escapes are read as JSON.
 *
 * @throws TypeError when `text` is no string, or on options that are none
 * @example
 * for (const found of findFrames(modelOutput)) {
 *   if (found.ok) handle(found.value);
 *   else console.error(found.error.format());
 * }
 */
export function findFrames(text: string, options: ParseOptions = {}): FoundFrame[] {
  if (typeof text !== 'string') throw new TypeError(`findFrames needs a string, got ${typeof text}`);
  const all = openings(text, prose.reset(text));
  return all.map((opening, index) => {
    // A second opening cannot stand inside a frame: its arrow would have to be escaped.
    const next = all[index + 1]?.start ?? text.length;
    return readAt(text, opening, Math.min(opening.lineEnd, next), options);
  });
}

function readAt(text: string, opening: Opening, limit: number, options: ParseOptions): FoundFrame {
  const { start, stringEnd } = opening;
  const inString = stringEnd === null ? '' : text.slice(start, Math.min(stringEnd, limit));
  if (!inString.includes('\\')) return readPlain(text, start, limit, options);
  // Inside a JSON string a backslash is the string's own first, and the frame's after that.
  const decoded = decodeJson(inString);
  if (decoded === null) return readPlain(text, start, limit, options);
  const frame = decoded.text.slice(0, frameLength(decoded.text));
  const result = tryParseFrame(frame, options);
  if (!result.ok) {
    const plain = readPlain(text, start, limit, options);
    if (plain.ok) return plain;
  }
  const end = start + decoded.sourceLength(frame.length);
  return { start, end, text: text.slice(start, end), decoded: frame, ...result };
}

function readPlain(text: string, start: number, limit: number, options: ParseOptions): FoundFrame {
  const frame = text.slice(start, start + frameLength(text.slice(start, limit)));
  const found = { start, end: start + frame.length, text: frame, ...tryParseFrame(frame, options) };
  // A frame that is never closed ends at the quote or backtick that opened it.
  const quote = text[start - 1];
  const closing = quote === '"' || quote === "'" || quote === '`' ? frame.indexOf(quote) : -1;
  if (found.ok || closing < 0) return found;
  const quotedFrame = frame.slice(0, closing);
  return { start, end: start + closing, text: quotedFrame, ...tryParseFrame(quotedFrame, options) };
}

/**
 * How much of `text`, which begins with an opening, belongs to the frame: up to the bracket that closes the payload, or the
 * metadata that follows it at once. Where the brackets never close, up to the first character that no frame can hold.
 */
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
