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
} from '../text/prose.js';
import type { Packet } from './ast.js';
import { type ParseOptions, tryParsePacket } from './parse.js';

export type { Found } from '../text/prose.js';

export type FoundPacket = Found<Packet, ParseError>;

const prose = moo.compile(packetProseTokens);

/** Before a packet with a line of its own: white space, list markers, quote marks. */
const LINE_PREFIX = /^\s*(?:(?:[-*+>]|[0-9]{1,9}[.)])\s+)*$/;
/** Bounds the prefix that is read again for every packet on a line. */
const MAX_PREFIX = 200;
/** Most kinds of unclosed quotes that are searched per line; strings do not nest deeper. */
const MAX_UNCLOSED = 8;
const FIELD = /^\s*[a-z][a-z0-9_]*\s*:/;
/** Ends a sentence or emphasis; not part of a value in prose. */
const TRAILING = '.,;:!?*~\u2026"\'`\u2019\u201d\u00bb\u3001\u3002\uff01\uff09\uff0c\uff1a\uff1b\uff1f\u300d\u300f';
/** Pairs of brackets, each closing one at an odd index. */
const BRACKETS = '()[]{}<>';

/**
 * Finds packets: two tokens and a `key:`, separated by bars, outside Markdown tables. A packet ends with its line, or at
 * the quote or backtick that opened it; in prose, its last value ends at white space, without the punctuation of the
 * sentence. One that does not parse is reported with its error. Found items never overlap; takes linear time. In a JSON
 * string, escapes are read as JSON.
 *
 * @throws TypeError if `text` is not a string, or an option is invalid
 * @example
 * findPackets('Please run FETCH|HR|return:HR-Agent|aacp:1.1 now.')[0].text // 'FETCH|HR|return:HR-Agent|aacp:1.1'
 */
export function findPackets(text: string, options: ParseOptions = {}): FoundPacket[] {
  if (typeof text !== 'string') throw new TypeError(`findPackets needs a string, got ${typeof text}`);
  // Wrong options are told even where there is nothing to find.
  tryParsePacket('', options);
  const all = openings(text, prose.reset(text)).filter(outsideTables(text));
  const found: FoundPacket[] = [];
  const unclosed = { lineEnd: -1, quotes: new Set<number>() };
  let end = 0;
  all.forEach((opening, index) => {
    // One that a quoted packet before it has taken in is part of that packet.
    if (opening.start < end) return;
    const next = all[index + 1]?.start ?? Number.POSITIVE_INFINITY;
    const packet = readAt(text, opening, closingOf(text, opening, next, unclosed), next, options);
    found.push(packet);
    end = packet.end;
  });
  return found;
}

/** Finds the end of the quote right before a packet. `unclosed` keeps quotes without an end, so that no line is searched twice. */
function closingOf(
  text: string,
  { start, lineEnd }: Opening,
  next: number,
  unclosed: { lineEnd: number; readonly quotes: Set<number> },
): number | null {
  const quote = quoteBefore(text, start);
  if (quote === null) return null;
  // Strings nest, so a packet in one can quote another; other quotes do not.
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

/** The end of the wrapping of a packet: a link, a terminal colour, or a tag. */
function wrappingBefore(text: string, start: number): RegExp {
  if (text[start - 1] === '[') return /\]\(/;
  const before = text.slice(Math.max(0, start - 16), start);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with one
  return /\x1b\[[0-9;]*m$/.test(before) ? /\x1b\[[0-9;]*m/ : /<\/([A-Za-z][\w:-]*)>/;
}

/** Length of a line up to the end of its wrapping in the last slot; `null` without one. */
function wrappedLength(line: string, wrapping: RegExp): number | null {
  const lastSlot = line.lastIndexOf('|') + 1;
  const end = wrapping.exec(line.slice(lastSlot));
  if (end === null) return null;
  // A tag that the value opened wraps only part of it.
  if (end[1] !== undefined && line.includes(`<${end[1]}`)) return null;
  return lastSlot + end.index;
}

/** Trims only spaces and tabs: a value may end with other blanks. */
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
 * Length of the packet at the start of a line of prose. A bar continues it if a field follows, or no white space
 * precedes the bar: `HR|note:two words|p:1` is one packet, `p:1 | see below` ends after the 1.
 */
function proseLength(line: string): number {
  const slots = line.split('|');
  let at = 0;
  for (let index = 0; index < slots.length; index++) {
    const slot = slots[index]!;
    const following = slots[index + 1];
    const goesOn = following !== undefined && (FIELD.test(following) || !/\s/.test(slot));
    if (!goesOn) return withoutPunctuation(line, at + valueEnd(slot));
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

/** Cuts sentence punctuation, and brackets opened before the packet. */
function withoutPunctuation(line: string, length: number): number {
  // Surplus of each closing bracket over its opening one.
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

/** Drops openings that are cells of a Markdown table, unless in backticks. */
function outsideTables(text: string): (opening: Opening) => boolean {
  const tables = tableLines(text);
  return ({ start, lineStart }) => text[start - 1] === '`' || !tables.has(lineStart);
}

/** Lines of Markdown tables: those that open with a bar, and those around a delimiter row. */
function tableLines(text: string): ReadonlySet<number> {
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
