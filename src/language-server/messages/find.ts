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
  /** Parts of `text` that stand for something else, such as the interpolations of a template. */
  readonly holes: readonly Span[];
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
      escape: (text) => text,
      holes: [],
    },
  ];
}

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
  // Same length, so that all offsets stay; a value that no reader changes.
  const text = holes
    .map(({ start, end }, index) => line.slice(holes[index - 1]?.end ?? 0, start) + 'x'.repeat(end - start))
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
  holes: readonly Span[],
  isScript: boolean,
): Message {
  const { start, end } = found;
  const own = holes.filter((hole) => hole.start < end && hole.end > start);
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
      escape: (one) => one.replaceAll('\\', '\\\\'),
      holes: within(own, at, text),
    };
  }
  const columnOf = offsetsIn(found);
  const text = found.decoded ?? found.text;
  const escaped = (one: string): string | null => {
    if (found.decoded === undefined) return one;
    // Several levels of strings, or other escapes than the shortest, are left alone.
    return JSON.stringify(text).slice(1, -1) === found.text ? JSON.stringify(one).slice(1, -1) : null;
  };
  return { protocol, start, end, text, columnOf, escape: escaped, holes: within(own, columnOf, text) };
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

/** Finds the interpolations of templates, `${...}`, that end on the line. */
function interpolations(line: string): readonly Span[] {
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
