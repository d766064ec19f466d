/** The messages in one line of a document. */
import { findPackets } from '../../aacp/find.js';
import { findFrames } from '../../accp/find.js';
import type { Dialect } from '../../accp/index.js';
import { type Found, offsetsIn } from '../../text/prose.js';
import type { Span } from '../../text/span.js';
import { frames } from './frames.js';
import type { MessageLanguage } from './message-language.js';
import { packets } from './packets.js';

export type Protocol = 'accp' | 'aacp';

export const LANGUAGES: Readonly<Record<Protocol, MessageLanguage>> = { accp: frames, aacp: packets };

/** A message in a line. */
export interface Message extends Span {
  readonly protocol: Protocol;
  /** The message without the escapes of the string around it. */
  readonly text: string;
  /** Returns the column of an offset in `text`. */
  readonly columnOf: (offset: number) => number;
  /** Writes a part of the message with the escapes of the string around it; `null` if they are unknown. */
  readonly escape: (text: string) => string | null;
  /** The places of the interpolations of a template. In `text`, a placeholder of the same length stands for each. */
  readonly holes: readonly Span[];
  /** Writes the interpolations in place of their placeholders, in any text about the message. */
  readonly written: (text: string) => string;
}

/** Returns the message that is a line of its own; none if the line is blank or a comment. */
export function wholeLine(line: string, protocol: Protocol): readonly Message[] {
  if (/^[ \t]*(?:#|$)/.test(line)) return [];
  return [
    {
      protocol,
      start: 0,
      end: line.length,
      text: line,
      columnOf: (offset) => offset,
      escape: asItIs,
      holes: [],
      written: asItIs,
    },
  ];
}

const asItIs = (text: string): string => text;

/** The properties of a document that the finder needs for a line. */
export interface Surroundings {
  readonly dialect: Dialect;
  /** `true` in JavaScript and TypeScript, whose templates have interpolations, and whose strings have other escapes than JSON. */
  readonly isScript: boolean;
  /** `true` if the line belongs to a table of Markdown, whose bars separate cells. */
  readonly isTable: boolean;
}

/** Finds the messages in any line of prose or code. A line holds one if it contains `>` or `|`, which is tested first. */
export function messagesIn(line: string, { dialect, isScript, isTable }: Surroundings): readonly Message[] {
  const holes = isScript ? interpolations(line) : [];
  const text = holes
    .map(({ start, placeholder }, index) => line.slice(holes[index - 1]?.end ?? 0, start) + placeholder)
    .concat(line.slice(holes.at(-1)?.end ?? 0))
    .join('');
  const found: Message[] = [];
  if (/>|\\u003[eE]/.test(text)) {
    for (const item of findFrames(text, { dialect })) found.push(messageOf('accp', item, holes, isScript));
  }
  if (text.includes('|')) {
    // The bar makes the finder, which sees only this line, treat it as a row of a table.
    const shift = isTable ? 1 : 0;
    for (const item of findPackets('|'.repeat(shift) + text)) {
      const own = { ...item, start: item.start - shift, end: item.end - shift };
      found.push(messageOf('aacp', own, holes, isScript));
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

function messageOf(
  protocol: Protocol,
  found: Found<unknown, unknown>,
  holes: readonly Interpolation[],
  isScript: boolean,
): Message {
  const { start, end } = found;
  const own = holes.filter((hole) => hole.start < end && hole.end > start);
  const written = own.length === 0 ? asItIs : writerOf(own);
  if (isScript && found.decoded === undefined && found.text.includes('\\\\')) {
    const script = unescaped(found.text);
    const at = (offset: number): number => start + script.offsets[Math.min(offset, script.offsets.length - 1)]!;
    const text = script.text;
    return {
      protocol,
      start,
      end,
      text,
      columnOf: at,
      escape: (one) => written(one.replaceAll('\\', '\\\\')),
      holes: within(own, at, text),
      written,
    };
  }
  const columnOf = offsetsIn(found);
  const text = found.decoded ?? found.text;
  const escaped = (one: string): string | null => {
    if (found.decoded === undefined) return written(one);
    // Several levels of strings, or other escapes than the shortest, are left alone.
    return JSON.stringify(text).slice(1, -1) === found.text ? written(JSON.stringify(one).slice(1, -1)) : null;
  };
  return { protocol, start, end, text, columnOf, escape: escaped, holes: within(own, columnOf, text), written };
}

/** Returns the first offset in the text of a message whose column is not below the given one. */
export function offsetAtColumn({ text, columnOf }: Pick<Message, 'text' | 'columnOf'>, column: number): number {
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (columnOf(middle) < column) low = middle + 1;
    else high = middle;
  }
  return low;
}

function within(holes: readonly Span[], columnOf: Message['columnOf'], text: string): readonly Span[] {
  const offset = (column: number): number => offsetAtColumn({ text, columnOf }, column);
  return holes.map(({ start, end }) => ({ start: offset(start), end: offset(end) }));
}

/** An interpolation of a template, `${...}`. */
interface Interpolation extends Span {
  readonly source: string;
  /** A word that only this interpolation has in the line. It has the same length, so that all offsets stay, and is a value that no reader changes but for its case. */
  readonly placeholder: string;
}

/** The form of placeholders: three letters that distinguish it, and as many `x` as it needs. */
const PLACEHOLDER = /(q[a-p]{2})x*/gi;

/** Finds the interpolations that end on the line. */
function interpolations(line: string): readonly Interpolation[] {
  const spans = interpolationSpans(line);
  if (spans.length === 0) return [];
  const taken = new Set(Array.from(line.matchAll(PLACEHOLDER), ([, letters]) => letters!.toLowerCase()));
  const placeholders = new Map<string, string>();
  return spans.map(({ start, end }) => {
    const source = line.slice(start, end);
    let placeholder = placeholders.get(source);
    if (placeholder === undefined) {
      // The same in each line, so that ids that are the same interpolation are equal.
      let code = 0;
      for (let at = 0; at < source.length; at++) code = (code * 31 + source.charCodeAt(at)) & 255;
      // Ends when all are taken: no message has that many interpolations.
      for (let tries = 0; tries < 256 && taken.has(lettersOf(code)); tries++) code = (code + 1) & 255;
      placeholder = lettersOf(code).padEnd(source.length, 'x');
      taken.add(lettersOf(code));
      placeholders.set(source, placeholder);
    }
    return { start, end, source, placeholder };
  });
}

const LETTERS = 'abcdefghijklmnop';

function lettersOf(code: number): string {
  return `q${LETTERS[code >> 4]}${LETTERS[code & 15]}`;
}

function writerOf(holes: readonly Interpolation[]): Message['written'] {
  const sources = new Map(holes.map(({ placeholder, source }) => [placeholder.slice(0, 3), source]));
  return (text) =>
    text.replace(PLACEHOLDER, (word: string, letters: string) => {
      const source = sources.get(letters.toLowerCase());
      // A text about the message may end inside a placeholder, and one in the message may end with more x.
      return source === undefined ? word : source.slice(0, word.length) + word.slice(source.length);
    });
}

function interpolationSpans(line: string): readonly Span[] {
  const found: Span[] = [];
  for (let start = line.indexOf('${'); start >= 0; start = line.indexOf('${', found.at(-1)?.end ?? start + 2)) {
    let depth = 0;
    let end = start + 1;
    do {
      if (line[end] === '{') depth++;
      if (line[end] === '}') depth--;
      end++;
    } while (depth > 0 && end < line.length);
    if (depth > 0 || found.at(-1)?.end === end) break;
    found.push({ start, end });
  }
  return found;
}

/** Removes the escaped backslashes of a string of JavaScript. */
function unescaped(source: string): { readonly text: string; readonly offsets: readonly number[] } {
  let text = '';
  const offsets: number[] = [];
  for (let at = 0; at < source.length; at++) {
    offsets.push(at);
    text += source[at];
    if (source[at] === '\\' && source[at + 1] === '\\') at++;
  }
  offsets.push(source.length);
  return { text, offsets };
}
