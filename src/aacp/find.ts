/** Finds packets in prose, Markdown, JSON strings, log lines and model output. Public as `pegwire/aacp/find`. */
import moo from 'moo';
import { packetProseTokens } from '../../grammar/aacp.tokens.js';
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
  tableLines,
} from '../text/prose.js';
import type { Packet } from './ast.js';
import { type ParseOptions, tryParsePacket } from './parse.js';

export type { Found } from '../text/prose.js';

/** A packet, or a failed attempt at one, found in a text. */
export type FoundPacket = Found<Packet, ParseError>;

const prose = moo.compile(packetProseTokens);

/** The prefix of a packet that has a line of its own: white space, list markers, quote marks. */
const LINE_PREFIX = /^\s*(?:(?:[-*+>]|[0-9]{1,9}[.)])\s+)*$/;
/** Limits the length of the prefix, which is read again for every packet of a line. */
const MAX_PREFIX = 200;
/** The maximum number of kinds of unclosed quotes that are searched per line. Strings do not nest deeper. */
const MAX_UNCLOSED = 8;
const FIELD = /^\s*[a-z][a-z0-9_]*\s*:/;
/** Characters that end a sentence or an emphasis and are not part of a value in prose. */
const TRAILING = '.,;:!?*~\u2026"\'`\u2019\u201d\u00bb\u3001\u3002\uff01\uff09\uff0c\uff1a\uff1b\uff1f\u300d\u300f';
/** Pairs of brackets. The closing ones have odd indices. */
const BRACKETS = '()[]{}<>';

/**
 * Finds packets in a text. A packet begins with two tokens and a `key:`, separated by bars, outside Markdown tables. It ends with its
 * line, or at the quote or backtick that opened it; in prose, its last value ends at white space, without the punctuation of the
 * sentence. A packet that does not parse is returned with its error. The ranges do not overlap. In a JSON string, escapes are decoded.
 * Runs in linear time.
 *
 * @throws TypeError if `text` is not a string, or an option is invalid
 * @example
 * findPackets('Please run FETCH|HR|return:HR-Agent|aacp:1.1 now.')[0].text // 'FETCH|HR|return:HR-Agent|aacp:1.1'
 */
export function findPackets(text: string, options: ParseOptions = {}): FoundPacket[] {
  if (typeof text !== 'string') throw new TypeError(`text must be a string; got ${typeof text}`);
  // Checks the options even if the text contains no packet.
  tryParsePacket('', options);
  const all = openings(text, prose.reset(text)).filter(outsideTables(text));
  const found: FoundPacket[] = [];
  const unclosed = { lineEnd: -1, quotes: new Set<number>() };
  let end = 0;
  all.forEach((opening, index) => {
    // The opening is inside the quoted packet before it.
    if (opening.start < end) return;
    const next = all[index + 1]?.start ?? Number.POSITIVE_INFINITY;
    const packet = readAt(text, opening, closingOf(text, opening, next, unclosed), next, options);
    found.push(packet);
    end = packet.end;
  });
  return found;
}

/** Finds the end of the quote right before a packet. `unclosed` remembers quotes without an end, so that each line is searched once. */
function closingOf(
  text: string,
  { start, lineEnd }: Opening,
  next: number,
  unclosed: { lineEnd: number; readonly quotes: Set<number> },
): number | null {
  const quote = quoteBefore(text, start);
  if (quote === null) return null;
  // Strings nest, so a packet in one can quote another. Other quotes do not nest.
  if (quote.closing !== '"') return closingQuote(text, start, Math.min(lineEnd, next), quote);
  if (unclosed.lineEnd !== lineEnd) {
    unclosed.lineEnd = lineEnd;
    unclosed.quotes.clear();
  }
  if (unclosed.quotes.has(quote.backslashes) || unclosed.quotes.size >= MAX_UNCLOSED) return null;
  const closing = closingQuote(text, start, lineEnd, quote);
  if (closing === null) unclosed.quotes.add(quote.backslashes);
  return closing;
}

function readAt(
  text: string,
  opening: Opening,
  closing: number | null,
  next: number,
  options: ParseOptions,
): FoundPacket {
  const { start, contentStart, lineEnd, stringEnd } = opening;
  const enclosing = enclosingQuote(opening);
  const limit = Math.min(stringEnd ?? lineEnd, next);
  const end = closing ?? (enclosing === null ? limit : (closingQuote(text, start, limit, enclosing) ?? limit));
  const source = text.slice(start, end);
  const hasLine = end < next && start - contentStart <= MAX_PREFIX && LINE_PREFIX.test(text.slice(contentStart, start));
  const wrapping = closing === null ? wrappingBefore(text, start) : null;

  const ways = readings(source, quoteBefore(text, start) ?? enclosing, stringEnd !== null);
  return firstOk(ways, (way) => {
    const line = way.text.slice(0, lineLength(way.text));
    const wrapped = wrapping === null ? null : wrappedLength(line, wrapping);
    const whole = wrapped ?? (closing !== null || hasLine ? withoutBlanks(line) : proseLength(line));
    const packet = line.slice(0, whole);
    return foundAt(text, start, way, packet, tryParsePacket(packet, options));
  });
}

/** Returns a pattern for the end of what encloses a packet: a link, a terminal colour, or a tag. */
function wrappingBefore(text: string, start: number): RegExp {
  if (text[start - 1] === '[') return /\]\(/;
  const before = text.slice(Math.max(0, start - 16), start);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with a control character
  return /\x1b\[[0-9;]*m$/.test(before) ? /\x1b\[[0-9;]*m/ : /<\/([A-Za-z][\w:-]*)>/;
}

/** Returns the length of a line up to the end of what encloses the packet, if that is in the last slot; otherwise `null`. */
function wrappedLength(line: string, wrapping: RegExp): number | null {
  const lastSlot = line.lastIndexOf('|') + 1;
  const end = wrapping.exec(line.slice(lastSlot));
  if (end === null) return null;
  // A tag that is opened inside the value encloses only part of it.
  if (end[1] !== undefined && line.includes(`<${end[1]}`)) return null;
  return lastSlot + end.index;
}

/** Trims spaces and tabs only: a value may end with other white space. */
function withoutBlanks(line: string): number {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end--;
  return end;
}

function lineLength(text: string): number {
  const end = text.search(/\r?\n/);
  return end < 0 ? text.length : end;
}

/**
 * Returns the length of the packet at the start of a line of prose. A bar continues the packet if a field follows, or if no white space
 * precedes the bar: `HR|note:two words|p:1` is one packet, `p:1 | see below` ends after the 1.
 */
function proseLength(line: string): number {
  const slots = line.split('|');
  let at = 0;
  for (let index = 0; index < slots.length; index++) {
    const slot = slots[index]!;
    const following = slots[index + 1];
    const continues = following !== undefined && (FIELD.test(following) || !/\s/.test(slot));
    if (!continues) return withoutPunctuation(line, at + valueEnd(slot));
    at += slot.length + 1;
  }
  return line.length;
}

/** Ends the last slot at white space, except before the key of a field. */
function valueEnd(slot: string): number {
  const key = FIELD.test(slot) ? slot.search(/\S/) : 0;
  const end = slot.slice(key).search(/\s/);
  return end < 0 ? slot.length : key + end;
}

/** Removes the punctuation of the sentence, and closing brackets that were opened before the packet. */
function withoutPunctuation(line: string, length: number): number {
  // The surplus of each closing bracket over its opening bracket.
  const surplus = new Map<string, number>();
  for (let at = 0; at < length; at++) {
    const character = line[at]!;
    const opened = BRACKETS.indexOf(character);
    if (opened < 0) continue;
    const closing = BRACKETS[opened | 1]!;
    surplus.set(closing, (surplus.get(closing) ?? 0) + (character === closing ? 1 : -1));
  }
  let end = length;
  for (; end > 0; end--) {
    const last = line[end - 1]!;
    const extra = surplus.get(last) ?? 0;
    if (extra > 0) surplus.set(last, extra - 1);
    else if (!TRAILING.includes(last)) break;
  }
  return end;
}

/** Rejects openings in cells of a Markdown table, unless they are in backticks. */
function outsideTables(text: string): (opening: Opening) => boolean {
  const tables = tableLines(text);
  return ({ start, lineStart }) => text[start - 1] === '`' || !tables.has(lineStart);
}
