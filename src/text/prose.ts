/** Messages inside other text: their possible starts and ends, and the JSON strings around them. */
import type { Result } from './errors.js';

/** A message found in a text, or a candidate that is not a valid message. */
export type Found<T, E> = {
  /** The start of the message in the text, in UTF-16 code units. */
  readonly start: number;
  /** The end of the message in the text, exclusive. */
  readonly end: number;
  /** The source of the message: `text.slice(start, end)`. */
  readonly text: string;
  /** The message without escapes, if it was escaped in a JSON string or a table cell. Spans then refer to it instead of `text`. */
  readonly decoded?: string;
} & Result<T, E>;

/** A token of the prose tables, of type `opening`, `escape`, `quote`, `newline` or `rest`. */
interface ProseToken {
  readonly type?: string | undefined;
  readonly text: string;
  readonly offset: number;
}

/** A possible start of a message. */
export interface Opening {
  readonly start: number;
  readonly lineStart: number;
  /** The start of the line or, in a JSON string, of the string or of the line inside it. */
  readonly contentStart: number;
  /** The end of its line, before `\n` or `\r\n`. */
  readonly lineEnd: number;
  /** The closing quote of the string around it, on the same line; `null` outside strings. */
  readonly stringEnd: number | null;
  /** `true` inside a string in a string, which is written with escaped quotes. */
  readonly nested: boolean;
}

/** Finds all possible starts of messages in one pass. */
export function openings(text: string, tokens: Iterable<ProseToken>): Opening[] {
  const found: Opening[] = [];
  let line: { start: number; contentStart: number; stringEnd: number | null; nested: boolean }[] = [];
  let lineStart = 0;
  let contentStart = 0;
  let inString = false;
  let nested = false;
  let unclosed = 0;
  let backslashEnd = -1;

  const endLine = (at: number): void => {
    const lineEnd = text[at - 1] === '\r' ? at - 1 : at;
    for (const opening of line) found.push({ ...opening, lineStart, lineEnd });
    line = [];
    unclosed = 0;
    inString = false;
  };

  for (const { type, text: token, offset } of tokens) {
    if (type === 'opening') {
      line.push({ start: offset, contentStart, stringEnd: null, nested: inString && nested });
    } else if (type === 'quote') {
      // A quote that is not closed on its line does not open a string.
      if (inString) for (; unclosed < line.length; unclosed++) line[unclosed]!.stringEnd = offset;
      else unclosed = line.length;
      inString = !inString;
      nested = false;
      contentStart = inString ? offset + 1 : lineStart;
    } else if (type === 'escape' && inString) {
      if (token === '\\n') contentStart = offset + 2;
      // After an escaped backslash, the quote is one level deeper.
      if (token === '\\"' && backslashEnd !== offset) nested = !nested;
      if (token === '\\\\') backslashEnd = offset + 2;
    } else if (type === 'newline') {
      endLine(offset);
      lineStart = offset + 1;
      contentStart = lineStart;
    }
  }
  endLine(text.length);
  return found;
}

interface Quote {
  readonly closing: string;
  /** Backslashes before a double quote: 0 for a string, 1 for a string in a string, then 3, 7, ... */
  readonly backslashes: number;
}

const CLOSING_QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '\u201c': '\u201d',
  '\u2018': '\u2019',
  '\u201e': '\u201c',
  '\u00ab': '\u00bb',
};

/** Returns the quote right before `start`, or `null`. */
export function quoteBefore(text: string, start: number): Quote | null {
  const closing = start > 0 ? CLOSING_QUOTES[text[start - 1]!] : undefined;
  if (closing === undefined) return null;
  return { closing, backslashes: closing === '"' ? backslashesBefore(text, start - 1) : 0 };
}

/** Returns the quote of the string in a string around an opening, or `null`. */
export function enclosingQuote({ nested }: Opening): Quote | null {
  return nested ? { closing: '"', backslashes: 1 } : null;
}

/** Returns the index at which a quotation ends between `start` and `end`, or `null`. */
export function closingQuote(text: string, start: number, end: number, quote: Quote): number | null {
  const { closing, backslashes } = quote;
  const section = text.slice(start, end);
  if (closing !== '"') {
    let at = section.indexOf(closing);
    while (at >= 0 && isApostrophe(section, at)) at = section.indexOf(closing, at + 1);
    return at < 0 ? null : start + at;
  }
  for (let at = section.indexOf(closing); at >= 0; at = section.indexOf(closing, at + 1)) {
    const run = backslashesBefore(section, at);
    // With fewer, an outer string ends; with more, some belong to an escape inside.
    if (run < backslashes) return start + at - run;
    if (run % (2 * (backslashes + 1)) === backslashes) return start + at - backslashes;
  }
  return null;
}

/** Returns whether a quote is an apostrophe, as in `it's`. */
function isApostrophe(text: string, at: number): boolean {
  return (
    (text[at] === "'" || text[at] === '\u2019') &&
    /[A-Za-z]/.test(text[at - 1] ?? '') &&
    /[A-Za-z]/.test(text[at + 1] ?? '')
  );
}

function backslashesBefore(text: string, at: number): number {
  let count = 0;
  while (text[at - 1 - count] === '\\') count++;
  return count;
}

/** A possible decoding of a text, with a mapping to positions in the source. */
interface Reading {
  readonly text: string;
  /** `true` if escapes were removed. */
  readonly decoded: boolean;
  /** Returns the length in the source of the first `length` characters. */
  readonly sourceLength: (length: number) => number;
}

/** The maximum number of nested JSON strings. */
const MAX_LEVELS = 3;

/** Returns the possible decodings of a section, likeliest first. In JSON strings, escapes are removed once per enclosing string. */
export function readings(source: string, quote: Quote | null, inString: boolean): Reading[] {
  const plain: Reading = { text: source, decoded: false, sourceLength: (length) => length };
  if (!inString || !source.includes('\\')) return [plain];
  const levels: Reading[] = [];
  let outer: Reading | null = plain;
  while (outer !== null && levels.length < MAX_LEVELS && outer.text.includes('\\')) {
    outer = decodeJson(outer);
    if (outer !== null) levels.push(outer);
  }
  // The backslashes of a quote show the number of enclosing strings; without a quote, one is likeliest.
  const likeliest = quote === null ? 1 : Math.log2(quote.backslashes + 1) + 1;
  return levels.length === 0 ? [plain] : [...levels.slice(0, likeliest).reverse(), ...levels.slice(likeliest)];
}

/** Removes one level of escapes; returns `null` if the text is not part of a JSON string. */
function decodeJson({ text: source, sourceLength }: Reading): Reading | null {
  try {
    const text: unknown = JSON.parse(`"${source}"`);
    if (typeof text !== 'string') return null;
    return { text, decoded: true, sourceLength: (length) => sourceLength(encodedLength(source, length)) };
  } catch {
    return null;
  }
}

function encodedLength(source: string, length: number): number {
  let at = 0;
  for (let count = 0; count < length; count++) {
    if (source[at] !== '\\') at++;
    else at += source[at + 1] === 'u' ? 6 : 2;
  }
  return at;
}

/** Decodes a cell of a Markdown table, where `|` is escaped. */
export function tableCell(source: string): Reading {
  return {
    text: source.replaceAll('\\|', '|'),
    decoded: true,
    sourceLength: (length) => {
      let at = 0;
      for (let count = 0; count < length; count++) at += source.startsWith('\\|', at) ? 2 : 1;
      return at;
    },
  };
}

/** Returns the first decoding that parses, or the failure of the likeliest one. */
export function firstOk<F extends { readonly ok: boolean }>(
  readings: readonly Reading[],
  parse: (reading: Reading) => F,
): F {
  let first: F | undefined;
  for (const reading of readings) {
    const found = parse(reading);
    if (found.ok) return found;
    first ??= found;
  }
  return first!;
}

/** Returns a found message with its position in the source. */
export function foundAt<T, E>(
  text: string,
  start: number,
  reading: Reading,
  message: string,
  result: Result<T, E>,
): Found<T, E> {
  const end = start + reading.sourceLength(message.length);
  const position = { start, end, text: text.slice(start, end) };
  return reading.decoded ? { ...position, decoded: message, ...result } : { ...position, ...result };
}

/** Returns a function that finds the offset in a text of an offset in the decoded form of a message that was found there. */
export function offsetsIn({ start, text, decoded }: Found<unknown, unknown>): (offset: number) => number {
  if (decoded === undefined) return (offset) => start + offset;
  const isCell = tableCell(text).text === decoded;
  const levels = [isCell ? startsIn(text, (at) => (text.startsWith('\\|', at) ? 2 : 1)) : jsonStarts(text)];
  let reading = isCell ? null : decodeJson({ text, decoded: false, sourceLength: (length) => length });
  while (reading !== null && reading.text !== decoded && levels.length < MAX_LEVELS) {
    levels.push(jsonStarts(reading.text));
    reading = decodeJson(reading);
  }
  return (offset) => start + levels.reduceRight((at, starts) => starts[Math.min(at, starts.length - 1)]!, offset);
}

function jsonStarts(source: string): readonly number[] {
  return startsIn(source, (at) => (source[at] !== '\\' ? 1 : source[at + 1] === 'u' ? 6 : 2));
}

/** Returns the starts of the units of a text, and its end. */
function startsIn({ length }: string, lengthAt: (at: number) => number): readonly number[] {
  const starts = [0];
  for (let at = 0; at < length; starts.push(Math.min(at, length))) at += lengthAt(at);
  return starts;
}

/** Returns the offsets of the lines of Markdown tables: those that begin with a bar, and those around a delimiter row. */
export function tableLines(text: string): ReadonlySet<number> {
  const tables = new Set<number>();
  let start = 0;
  let previous = { start: 0, hasBar: false };
  let inTable = false;
  for (const line of text.split('\n')) {
    const hasBar = line.includes('|');
    if (hasBar && previous.hasBar && isDelimiterRow(line)) {
      inTable = true;
      tables.add(previous.start);
    }
    inTable &&= hasBar;
    if (inTable || /^\s*\|/.test(line)) tables.add(start);
    previous = { start, hasBar };
    start += line.length + 1;
  }
  return tables;
}

function isDelimiterRow(line: string): boolean {
  return line.includes('-') && /^[\s|:-]+$/.test(line);
}
