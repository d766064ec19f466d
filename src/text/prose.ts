/** Messages inside other text: where they may begin, how far they may reach, and strings of JSON around them. */
import type { Result } from './result.js';

/** A message, or a failed attempt at one, found in a text. */
export type Found<T, E> = {
  /** Where it stands in the text, in UTF-16 offsets. */
  readonly start: number;
  readonly end: number;
  /** `text.slice(start, end)` */
  readonly text: string;
  /**
   * The message itself, where it was read out of a JSON string that writes it with escapes. Spans, of the value and of the
   * error, are offsets in this text if it is there, and in `text` otherwise.
   */
  readonly decoded?: string;
} & Result<T, E>;

/** What the prose tables of the protocols make of a text: `opening`, `escape`, `quote`, `newline`, `rest`. */
export interface ProseToken {
  readonly type?: string | undefined;
  readonly text: string;
  readonly offset: number;
}

/** A place where a message may begin. */
export interface Opening {
  readonly start: number;
  /** Where its line begins; in a JSON string, where the string or the line written in it begins. */
  readonly lineStart: number;
  /** Where its line ends, before `\n` or `\r\n`. */
  readonly lineEnd: number;
  /** The closing quote of the double-quoted string that it stands in, on the same line; `null` outside strings. */
  readonly stringEnd: number | null;
}

/** All openings of a text, in one pass over its tokens. */
export function openings(text: string, tokens: Iterable<ProseToken>): Opening[] {
  const found: Opening[] = [];
  let line: { start: number; lineStart: number; stringEnd: number | null }[] = [];
  let lineStart = 0;
  let inString = false;
  let unclosed = 0;

  const endLine = (at: number): void => {
    const lineEnd = text[at - 1] === '\r' ? at - 1 : at;
    for (const opening of line) found.push({ ...opening, lineEnd });
    line = [];
    unclosed = 0;
    inString = false;
  };

  for (const { type, text: token, offset } of tokens) {
    if (type === 'opening') {
      line.push({ start: offset, lineStart, stringEnd: null });
    } else if (type === 'quote') {
      // A string without its end on the line is none.
      if (inString) for (; unclosed < line.length; unclosed++) line[unclosed]!.stringEnd = offset;
      else unclosed = line.length;
      inString = !inString;
      lineStart = offset + 1;
    } else if (type === 'escape' && token === '\\n' && inString) {
      lineStart = offset + 2;
    } else if (type === 'newline') {
      endLine(offset);
      lineStart = offset + 1;
    }
  }
  endLine(text.length);
  return found;
}

/** What a stretch of a JSON string says, with the way back from its characters to those of the source. */
export interface Decoded {
  readonly text: string;
  /** How much of the source the first `length` characters of `text` take. */
  readonly sourceLength: (length: number) => number;
}

/** Takes the escapes out of a stretch of a JSON string; `null` when it is none. */
export function decodeJson(source: string): Decoded | null {
  try {
    const text: unknown = JSON.parse(`"${source}"`);
    return typeof text === 'string' ? { text, sourceLength: (length) => sourceLength(source, length) } : null;
  } catch {
    return null;
  }
}

function sourceLength(source: string, length: number): number {
  let at = 0;
  for (let count = 0; count < length; count++) {
    if (source[at] !== '\\') at++;
    else at += source[at + 1] === 'u' ? 6 : 2;
  }
  return at;
}
