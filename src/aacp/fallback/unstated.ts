/** Compares a packet with the instruction that it was made for: values that the instruction does not state. */
import type { Packet } from '../ast.js';
import { tryParsePacket } from '../parse.js';
import { lowerAscii } from '../vocabulary.js';
import type { ValueItem } from './instruction/ast.js';
import { daysLater, isoDay, lastDayOf } from './instruction/calendar.js';
import { parseInstruction } from './instruction/parse.js';
import { resolveRelative } from './instruction/resolve.js';
import { type Slot, slotOf, TIME_KINDS } from './instruction/slots.js';
import { asSentence } from './instruction/structured.js';
import { findPlaces, isOwnPlace, REQUEST_KEYS } from './match/places.js';
import { CALENDAR, isOfName, NUMBER, numbersIn } from './match/residue.js';
import type { RegistryEntry } from './registry/registry.js';
import type { FallbackWarning } from './result.js';

/** A value of a packet that its instruction does not state. */
export interface Unstated {
  /** `time`: a date, a period, or a number that could be one. The others are amounts, ids and names. */
  readonly kind: 'time' | 'value';
  readonly key: string;
  readonly text: string;
}

const DAY = 86_400_000;

/** Most instructions whose comparison is kept. */
const MOST_KNOWN = 1000;
const known = new Map<string, { readonly packet: string; readonly day: number; readonly found: readonly Unstated[] }>();

/**
 * Lists the values of a packet that neither stand in the instruction nor follow from it by the calendar: the first and last day of a
 * period that it names, and what "last month" and the like are on the day on which it was given (UTC).
 *
 * @param said when the instruction was given, in milliseconds since 1970
 */
export function unstatedIn(packet: string, instruction: string, said: number): readonly Unstated[] {
  const day = Math.floor(said / DAY);
  const before = known.get(instruction);
  if (before !== undefined && before.packet === packet && before.day === day) return before.found;
  const found = compare(packet, instruction, said);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(instruction, { packet, day, found });
  return found;
}

/** When the instruction of an entry was given, in milliseconds since 1970. */
export function saidOf({ said, created }: Pick<RegistryEntry, 'said' | 'created'>): number {
  return said ?? created;
}

/**
 * The time in an entry's packet that holds only on the day (UTC) on which it was worked out, where that day is over; `null` for an
 * entry that may be served.
 */
export function staleTimeIn(
  entry: Pick<RegistryEntry, 'packet' | 'instruction' | 'said' | 'created'>,
  now: number,
): string | null {
  const said = saidOf(entry);
  if (Math.floor(said / DAY) === Math.floor(now / DAY)) return null;
  return unstatedIn(entry.packet, entry.instruction, said).find(({ kind }) => kind === 'time')?.text ?? null;
}

/** The warnings about values that an instruction does not state. */
export function unstatedWarnings(packet: string, instruction: string, said: number): readonly FallbackWarning[] {
  return unstatedIn(packet, instruction, said).map((value) => ({ code: 'unstated-value', message: messageOf(value) }));
}

export function messageOf({ key, text }: Unstated): string {
  return `The instruction does not state ${JSON.stringify(text.slice(0, 80))}, which the packet has in ${key}.`;
}

/** Keys whose numbers are no times. */
const NO_TIME: ReadonlySet<string> = new Set(['amt', 'ccy', 'ltv', 'prog', 'terms']);

/** Keys, and names within `filter`, whose values are times in words: `period:month_end`. */
const TIMED: ReadonlySet<string> = new Set(
  'period date day week month quarter year time due deadline from since until till start end by before after on at when as_of asof effective expires expiry valid'.split(
    ' ',
  ),
);

/** Keys, and names within `filter`, whose values name persons, companies and agents. */
const NAMED: ReadonlySet<string> = new Set(
  'sup party actor chain to usr user username name emp employee customer client vendor supplier owner assignee agent email'.split(
    ' ',
  ),
);

/** Keys whose values name forms of a result: `fmt:mp4`. */
const FREE: ReadonlySet<string> = new Set(['fmt']);

function compare(text: string, instruction: string, said: number): readonly Unstated[] {
  const read = tryParsePacket(text);
  if (!read.ok) return [];
  const packet = read.value;
  const sentence = asSentence(instruction);
  const slots = slotsIn(sentence, said);
  const all = findPlaces(packet, slots, said);
  const places = all.filter((place) => isOwnPlace(packet, place, all));
  const words = wordsIn(`${instruction} ${sentence}`);
  const small = ` ${instruction} ${sentence} `.toLowerCase();
  const numbers = numbersOf(small, slots);
  const found: Unstated[] = [];
  packet.fields.forEach(({ key: written, value }, field) => {
    const key = lowerAscii(written);
    if (REQUEST_KEYS.has(key) || FREE.has(key)) return;
    if (key === 'ccy') {
      if (!isCurrencyStated(value, small, slots)) found.push({ kind: 'value', key, text: value });
      return;
    }
    let rest = value;
    for (const { field: at, start, end } of places) {
      if (at === field) rest = `${rest.slice(0, start)}${' '.repeat(end - start)}${rest.slice(end)}`;
    }
    const texts = new Map<string, Unstated['kind']>();
    for (const number of unstatedNumbers(rest, small, numbers)) {
      const kind = number.isPartOfName || NO_TIME.has(key) ? 'value' : 'time';
      texts.set(wholeOf(value, number.start, number.end), kind);
    }
    for (const { 0: name, index } of rest.matchAll(CALENDAR)) {
      if (!words.has(name.toLowerCase())) texts.set(wholeOf(value, index, index + name.length), 'time');
    }
    for (const item of itemsOf(key, rest)) {
      const isTimed = TIMED.has(item.name);
      if (!isTimed && !NAMED.has(item.name) && !looksLikeName(item.text)) continue;
      // A letter alone is an initial, or a part of a time: 09:00Z.
      const other = wordsOf(item.text).find((word) => word.length > 1 && !isWordStated(word, words));
      const whole = itemsOf(key, value)[item.number]?.text ?? value;
      if (other !== undefined && texts.get(whole) !== 'time') texts.set(whole, isTimed ? 'time' : 'value');
    }
    for (const [one, kind] of texts) found.push({ kind, key, text: one });
  });
  return found;
}

/** Keys of facts that only a person or a record can vouch for. */
const VOUCHED: ReadonlySet<string> = new Set(['actor', 'chain', 'req', 'rules']);

/**
 * Finds who acted, what was gone through, what is demanded and which rules apply, where a rule's packet has it and the instruction does
 * not state it; `null` for none. An audit trail that nobody stated is worse than asking the model.
 */
export function inventedIn({ fields }: Packet, instruction: string): Pick<Unstated, 'key' | 'text'> | null {
  const words = wordsIn(instruction);
  const numbers = numbersIn(instruction);
  for (const { key: written, value } of fields) {
    const key = lowerAscii(written);
    if (!VOUCHED.has(key)) continue;
    for (const { text } of itemsOf(key, value)) {
      const digits = text.match(/\d+/g) ?? [];
      const isStated =
        wordsOf(text).every((word) => word.length === 1 || isWordStated(word, words)) &&
        digits.every((number) => numbers.has(Number(number)));
      if (!isStated) return { key, text };
    }
  }
  return null;
}

/** The values of an instruction; periods with their first and last days, relative ones as the calendar has them, too. */
function slotsIn(sentence: string, said: number): readonly Slot[] {
  const items = parseInstruction(sentence) ?? [];
  const slots: Slot[] = [];
  for (const item of items) {
    if (item.kind === 'word' || item.kind === 'mark') continue;
    for (const value of item.kind === 'span' ? item.items : [item]) {
      const slot = slotOf(value, sentence);
      const resolved = resolveRelative(slot, said);
      slots.push(slot, ...daysOf((resolved ?? slot).item));
    }
  }
  return slots;
}

/** The first and the last day of a period that says its year. */
function daysOf(item: ValueItem | undefined): readonly Slot[] {
  if (item === undefined || !('year' in item) || item.year === null) return [];
  const { year } = item;
  switch (item.kind) {
    case 'month':
      return monthDays(year, item.month, item.month);
    case 'quarter':
      return monthDays(year, item.quarter * 3 - 2, item.quarter * 3);
    case 'half':
      return monthDays(year, item.half * 6 - 5, item.half * 6);
    case 'year':
      return monthDays(year, 1, 12);
    case 'week': {
      // The week of 4 January is the first one (ISO 8601).
      const fourth = Date.UTC(year, 0, 4);
      const monday = daysLater(fourth, 1 - (new Date(fourth).getUTCDay() || 7) + 7 * (item.week - 1));
      return [daySlot(isoDay(monday)), daySlot(isoDay(daysLater(monday, 6)))];
    }
    default:
      return [];
  }
}

function monthDays(year: number, first: number, last: number): readonly Slot[] {
  const month = (number: number): string => `${String(year).padStart(4, '0')}-${String(number).padStart(2, '0')}`;
  return [daySlot(`${month(first)}-01`), daySlot(`${month(last)}-${lastDayOf(year, last)}`)];
}

function daySlot(day: string): Slot {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  return slotOf({ kind: 'date', year, month, day: date, start: 0, end: day.length }, day);
}

function numbersOf(small: string, slots: readonly Slot[]): ReadonlySet<number> {
  const worded = slots.filter(({ kind, digits }) => digits !== undefined && !TIME_KINDS.has(kind));
  return new Set([...numbersIn(small), ...worded.map(({ digits }) => Number(digits))]);
}

interface FoundNumber {
  readonly start: number;
  readonly end: number;
  readonly isPartOfName: boolean;
}

/** Letters before a number that stand for a length of time. */
const DURATION = /^pt?$/i;

function* unstatedNumbers(rest: string, small: string, numbers: ReadonlySet<number>): Iterable<FoundNumber> {
  for (const { 0: number, index: start } of rest.matchAll(NUMBER)) {
    const before = rest.slice(0, start);
    const end = start + number.length;
    // The first and the last moment of a day that the instruction states.
    if (/(?:\d|\s)T$/.test(before) && /^(?:00:00|23:59|24:00)(?::(?:00|59))?$/.test(number)) continue;
    const isPartOfName = isOfName(before, number);
    const letters = /\p{L}+$/u.exec(before)?.[0] ?? '';
    const isLettered = letters !== '' && !isPartOfName && !DURATION.test(letters);
    const isStated =
      isLettered || /[-:]/.test(number)
        ? holdsWhole(small, `${letters}${number}`.toLowerCase()) || saysInFull(small, letters, number)
        : numbers.has(Number(number.replaceAll(',', '')));
    if (!isStated) yield { start, end, isPartOfName };
  }
}

/** Whether letters are the beginning of the word before a number: "week 48" for `w48`, "Microsoft 365" for `m365`. */
function saysInFull(small: string, letters: string, number: string): boolean {
  if (letters === '' || !/^\d+$/.test(number)) return false;
  return new RegExp(`(?<!\\p{L})${letters.toLowerCase()}\\p{L}* ${number}(?!\\d)`, 'u').test(small);
}

/** Whether a text stands in another one with no letter or digit beside it. */
function holdsWhole(text: string, part: string): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(`${text[at - 1] ?? ''}${text[at + part.length] ?? ''}`)) return true;
  }
  return false;
}

/** The item of a value around a place. */
function wholeOf(value: string, start: number, end: number): string {
  const from = Math.max(value.lastIndexOf(',', start - 1), value.lastIndexOf('=', start - 1)) + 1;
  const comma = value.indexOf(',', end);
  return value.slice(from, comma < 0 ? value.length : comma);
}

interface Item {
  readonly number: number;
  readonly name: string;
  readonly text: string;
}

/** The items of a value, each with the name before its sign of comparison, or else the key. */
function itemsOf(key: string, value: string): readonly Item[] {
  return value.split(',').map((item, number) => {
    const [, name = key, text = item] = /^\s*([\w.]+)\s*[<>=!]+(.*)$/s.exec(item) ?? [];
    return { number, name: lowerAscii(name), text: text.trim() };
  });
}

/** An address, an agent, or a capitalised word. */
function looksLikeName(text: string): boolean {
  return /\S@\S|:\/\/|-Agent(?![\p{L}\p{N}])/iu.test(text) || /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}{2,}/u.test(text);
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\p{L}[\p{L}\p{M}]*/gu) ?? [];
}

/** The words of an instruction in small letters, each with whether it stands there so, too. */
function wordsIn(text: string): ReadonlyMap<string, boolean> {
  const words = new Map<string, boolean>();
  for (const word of wordsOf(text)) {
    const small = word.toLowerCase();
    words.set(small, words.get(small) === true || small === word);
  }
  return words;
}

/** Whether a word stands in the instruction: itself, or another form of an ordinary word. */
function isWordStated(word: string, words: ReadonlyMap<string, boolean>): boolean {
  const small = word.toLowerCase();
  if (words.has(small) || words.has(`${small}s`) || (small.endsWith('s') && words.has(small.slice(0, -1)))) return true;
  for (const [other, isOrdinary] of words) {
    if (isOrdinary && small.length > 2 && other.startsWith(small)) return true;
    if (isOrdinary && other.length > 3 && small.startsWith(other)) return true;
  }
  return false;
}

function isCurrencyStated(code: string, small: string, slots: readonly Slot[]): boolean {
  if (slots.some(({ currency }) => currency === code) || holdsWhole(small, code.toLowerCase())) return true;
  try {
    const name = new Intl.DisplayNames('en', { type: 'currency' }).of(code) ?? '';
    const sign = new Intl.NumberFormat('en', { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' })
      .formatToParts(0)
      .find(({ type }) => type === 'currency')?.value;
    const last = name.toLowerCase().split(' ').at(-1) ?? '';
    if (sign !== undefined && small.includes(sign.toLowerCase())) return true;
    return last !== '' && (holdsWhole(small, last) || holdsWhole(small, `${last}s`));
  } catch {
    // Not a code of a currency.
    return false;
  }
}
