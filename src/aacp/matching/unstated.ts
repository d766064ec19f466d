/** Finds values of a packet that its instruction does not state. */
import type { Packet } from '../ast.js';
import { tryParsePacket } from '../parse.js';
import { lowerAscii } from '../vocabulary.js';
import type { RegistryEntry } from './entry.js';
import { isForeignName } from './instruction/calendar.js';
import { wordedNumbers, wordedTimes } from './instruction/numbers.js';
import { type Slot, TIME_KINDS } from './instruction/slots.js';
import { wordSet } from './instruction/words.js';
import {
  blanked,
  CALENDAR,
  findOccurrences,
  isOfName,
  isOwnOccurrence,
  NUMBER,
  numbersIn,
  type Occurrence,
  REQUEST_KEYS,
} from './occurrences.js';
import {
  holdsWhole,
  isCurrencyStated,
  isWordStated,
  type Statement,
  statementOf,
  wordsIn,
  wordsOf,
} from './statement.js';

export interface Unstated {
  /** `time`: a date, a period, or a number that may be one. `value`: an amount, an id or a name. */
  readonly kind: 'time' | 'value';
  readonly key: string;
  readonly text: string;
}

const DAY = 86_400_000;

/** The maximum number of instructions whose comparison is cached. */
const MAX_CACHED = 1000;
const cache = new Map<string, { readonly packet: string; readonly day: number; readonly found: readonly Unstated[] }>();

/**
 * Lists the values of a packet that the instruction neither states nor implies by the calendar: first and last days of periods, and the dates
 * of relative times on the day on which it was given (UTC).
 *
 * @param givenAt the time at which the instruction was given, in milliseconds since 1970
 */
export function unstatedIn(packet: string, instruction: string, givenAt: number): readonly Unstated[] {
  const day = Math.floor(givenAt / DAY);
  const before = cache.get(instruction);
  if (before !== undefined && before.packet === packet && before.day === day) return before.found;
  const found = compare(packet, instruction, givenAt);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(instruction, { packet, day, found });
  return found;
}

/** Returns the time at which the instruction of an entry was given, in milliseconds since 1970. */
export function givenAtOf({ givenAt, createdAt }: Pick<RegistryEntry, 'givenAt' | 'createdAt'>): number {
  return givenAt ?? createdAt;
}

/** Returns a time of an entry's packet that was derived on an earlier day (UTC); `null` if the entry can be used. */
export function staleTimeIn(
  entry: Pick<RegistryEntry, 'packet' | 'instruction' | 'givenAt' | 'createdAt'>,
  now: number,
): string | null {
  const givenAt = givenAtOf(entry);
  if (Math.floor(givenAt / DAY) === Math.floor(now / DAY)) return null;
  return unstatedIn(entry.packet, entry.instruction, givenAt).find(({ kind }) => kind === 'time')?.text ?? null;
}

/** Keys, and names within `filter`, of times in words: `period:month_end`. */
const TIMED = wordSet(`
  period date day week month quarter year time due deadline from since until till start end by before after on at when as_of asof
  effective expires expiry valid
`);

/** Words that make a longer name the name of a time: `order_year`. */
const UNITS =
  /(?:^|[_.])(period|date|day|week|month|quarter|year|season|deadline|hour|minute|fy|yr|qtr|mth|wk|dob)(?:$|[_.])/;

/** Keys, and names within `filter`, of persons, companies and agents. */
const NAMED = wordSet(`
  sup party actor chain to usr user username name emp employee customer client vendor supplier owner assignee agent email
`);

/** A year, a month or a day without separators. */
const YEARLY = /^(?:19|20)\d\d(?:\d\d){0,2}$/;

function compare(text: string, instruction: string, givenAt: number): readonly Unstated[] {
  const read = tryParsePacket(text);
  if (!read.ok) return [];
  const packet = read.value;
  const statement = statementOf(instruction, givenAt);
  const all = findOccurrences(packet, statement.slots, givenAt);
  const occurrences = all.filter((occurrence) => isOwnOccurrence(packet, occurrence, all));
  const found: Unstated[] = [];
  packet.fields.forEach(({ key: written, value }, field) => {
    const key = lowerAscii(written);
    if (REQUEST_KEYS.has(key)) return;
    if (key === 'ccy' && /^\p{L}+$/u.test(value)) {
      if (!isCurrencyStated(value, statement)) found.push({ kind: 'value', key, text: value });
      return;
    }
    if (hasTimeInName(key, statement)) found.push({ kind: 'time', key, text: written });
    const own = occurrences.filter((occurrence) => occurrence.field === field);
    for (const item of itemsOf(key, value)) {
      if (item.name !== key && hasTimeInName(item.name, statement)) found.push({ kind: 'time', key, text: item.name });
      const kind = unstatedKind(item, key, own, statement);
      if (kind !== null) found.push({ kind, key, text: item.text });
    }
  });
  return found;
}

/** Kinds of values that are never a time: "Pay £2026". */
const TIMELESS: ReadonlySet<Slot['kind']> = new Set(['amount', 'percent', 'terms', 'email', 'url']);

/** Returns whether a value may be used as a time. Numbers are checked separately. */
function mayBeTime({ slot }: Occurrence, text: string, { counted }: Statement): boolean {
  if (TIMELESS.has(slot.kind)) return false;
  const isTime = (TIME_KINDS.has(slot.kind) || slot.kind === 'ordinal') && !counted.has(Number(text));
  return isTime || !/^\d+$/.test(text);
}

/** Returns the numbers that an item may contain. For a time, the instruction must name the unit, as in "month 11" for `month=11`, except for hours. */
function numbersFor(
  { name }: Item,
  isTimed: boolean,
  { numbers, times, dates, words }: Statement,
): ReadonlySet<number> {
  if (!isTimed) return numbers;
  const unit = UNITS.exec(name)?.[1] ?? name;
  return unit === 'hour' || unit === 'minute' || isWordStated(unit, words) ? times : dates;
}

/** Returns the kind of an item that the instruction does not state, or `null`. */
function unstatedKind(
  item: Item,
  key: string,
  occurrences: readonly Occurrence[],
  statement: Statement,
): Unstated['kind'] | null {
  const isTimed = TIMED.has(item.name) || UNITS.test(item.name);
  const within = occurrences
    .map((occurrence) => ({ occurrence, start: occurrence.start - item.start, end: occurrence.end - item.start }))
    .filter(({ start, end }) => start >= 0 && end <= item.text.length);
  const rest = blanked(
    item.text,
    within.filter(
      ({ occurrence, start, end }) => !isTimed || mayBeTime(occurrence, item.text.slice(start, end), statement),
    ),
  );
  const numbers = [...unstatedNumbers(rest, numbersFor(item, isTimed, statement), statement)].filter(
    ({ digits, isPartOfName }) => !(isPartOfName && key === 'fmt' && !YEARLY.test(digits)),
  );
  // "v2" is a name. Any other number may be derived from the day: a year, a sum to date, the number of days that are left.
  if (numbers.some(({ digits, isPartOfName }) => !isPartOfName || digits.length > 1)) return 'time';
  if (hasUnstatedName(rest, statement) || hasForeignDigits(rest, statement)) return 'time';
  if (hasUnstatedNumberWord(rest, statement)) return 'time';
  // A single letter is an initial, or a part of a time: 09:00Z.
  const other = wordsOf(rest.replace(CALENDAR, ' ')).some(
    (word) => word.length > 1 && !isWordStated(word, statement.words),
  );
  if (isTimed && other) return 'time';
  if (numbers.length > 0) return 'value';
  return other && key !== 'fmt' && (NAMED.has(item.name) || looksLikeName(rest)) ? 'value' : null;
}

/** Returns whether a key contains a time that the instruction does not state: `q3_2026`, `november`. */
function hasTimeInName(name: string, statement: Statement): boolean {
  const numbers = unstatedNumbers(name, statement.numbers, statement);
  if ([...numbers].some(({ digits, isPartOfName }) => !isPartOfName || YEARLY.test(digits))) return true;
  return hasUnstatedName(name.replace(/(?<!\p{L})may(?!\p{L})/gu, ' '), statement);
}

/** Full names of days and months, which count even within other words. */
const WHOLE = /january|february|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day/gi;

function hasUnstatedName(rest: string, { calendar, words }: Statement): boolean {
  // "reportNov" is two words.
  const parted = rest.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ');
  const names = [...(parted.match(CALENDAR) ?? []), ...(rest.match(WHOLE) ?? [])];
  if (names.some((name) => !calendar.has(name.slice(0, 3).toLowerCase()))) return true;
  return wordsOf(parted).some((word) => isForeignName(word.toLowerCase()) && !words.has(word.toLowerCase()));
}

/** Returns whether a text contains digits of another script that the instruction does not contain. */
function hasForeignDigits(rest: string, { small }: Statement): boolean {
  return (rest.match(/[^\P{Nd}0-9]+/gu) ?? []).some((digits) => !small.includes(digits));
}

/** Keys of facts that cannot be derived from an instruction. */
const FACT_KEYS: ReadonlySet<string> = new Set(['actor', 'chain', 'req', 'rules']);

/**
 * Finds an actor, a chain, requirements or rules that a packet contains and the instruction does not state. An invented audit trail is worse
 * than another call of the model.
 */
export function inventedIn({ fields }: Packet, instruction: string): Pick<Unstated, 'key' | 'text'> | null {
  const words = wordsIn(instruction);
  const numbers = numbersIn(instruction);
  for (const { key: written, value } of fields) {
    const key = lowerAscii(written);
    if (!FACT_KEYS.has(key)) continue;
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

interface Item {
  /** The offset of the text in the value. */
  readonly start: number;
  readonly name: string;
  readonly text: string;
}

/** Splits a value into items, each with the name before its comparison operator, or else the key. */
function itemsOf(key: string, value: string): readonly Item[] {
  let start = 0;
  // Not between thousands.
  return value.split(/,(?!(?<=\d,)\d{3}(?!\d))/).map((item) => {
    const [head = '', name = key] = /^\s*(?:([\w.]+)\s*[<>=!]+\s*)?/.exec(item) ?? [];
    const text = item.slice(head.length).trimEnd();
    const from = start + head.length;
    start += item.length + 1;
    return { start: from, name: lowerAscii(name), text };
  });
}

/** Returns whether a text looks like an address, an agent, or a capitalised word. */
function looksLikeName(text: string): boolean {
  return /\S@\S|:\/\/|-Agent(?![\p{L}\p{N}])/iu.test(text) || /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}{2,}/u.test(text);
}

interface FoundNumber {
  readonly digits: string;
  /** `true` if letters precede it: `payroll_v2`. */
  readonly isPartOfName: boolean;
}

/** Letters before a number that is a duration, a sum or terms of payment. */
const MEASURED = /^(?:pt?|net|total|gbp|eur|usd)$/i;

/** Lists numbers of a text that are not among the given ones, and times of day that are not stated. */
function* unstatedNumbers(given: string, numbers: ReadonlySet<number>, statement: Statement): Iterable<FoundNumber> {
  const { small, counted } = statement;
  // Zero seconds and the time zone UTC add nothing.
  const rest = given.replace(/(?<=\s):00(?!\d)|(?<=:\d\d)\.0+(?!\d)|(?<=\d:\d\d|\s)(?:Z|[+-]00:00)/g, '');
  for (const { 0: digits, index } of rest.matchAll(NUMBER)) {
    const before = rest.slice(0, index);
    if (/^\d+:\d\d/.test(digits) && isTimeStated(digits, /(?:\d|\s)T$/.test(before), statement)) continue;
    const isPartOfName = isOfName(before, digits);
    const letters = /\p{L}+$/u.exec(before)?.[0] ?? '';
    const isLettered = letters !== '' && !isPartOfName && !MEASURED.test(letters);
    const isStated =
      isLettered || /[-:]/.test(digits)
        ? holdsWhole(small, `${letters}${digits}`.toLowerCase()) || saysInFull(small, letters, digits)
        : numbers.has(Number(digits.replaceAll(',', ''))) ||
          isCounted(counted.get(Number(digits)), rest.slice(index + digits.length));
    if (!isStated) yield { digits, isPartOfName };
  }
}

/** Returns whether the counted noun follows the number: `30d`, `P30D`, `last_30_days` for "30 days". */
function isCounted(noun: string | undefined, behind: string): boolean {
  const letters = /^[-_ ]?(\p{L}+)/u.exec(behind)?.[1]?.toLowerCase();
  return noun !== undefined && letters !== undefined && (noun.startsWith(letters) || letters.startsWith(noun));
}

/**
 * Returns whether an instruction states a time of day: `17:00` by "5 pm", "at 5" or "17.00", `12:00` by "noon", `05:30` by "half past five".
 *
 * @param isOfDay `true` if a day precedes it, of which it may be the first or last moment
 */
function isTimeStated(text: string, isOfDay: boolean, { small, times, words }: Statement): boolean {
  if (isOfDay && /^(?:00:00|23:59|24:00)(?::(?:00|59))?$/.test(text)) return true;
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number);
  if (second !== 0) return false;
  if (new RegExp(`(?<!\\d)0?${hour}[:.h ]?${String(minute).padStart(2, '0')}(?!\\d)`).test(small)) return true;
  if (minute === 0 && hour % 12 === 0 && words.has(hour === 12 ? 'noon' : 'midnight')) return true;
  const isHour = [hour, hour % 12 || 12].some((one) => times.has(one));
  return minute === 0 ? isHour : wordedTimes(small).has((hour * 60 + minute) % 720);
}

/** Returns whether the letters before a number abbreviate the word before it: "week 48" for `w48`, "Microsoft 365" for `m365`. */
function saysInFull(small: string, letters: string, number: string): boolean {
  if (letters === '' || !/^\d+$/.test(number)) return false;
  return new RegExp(`(?<!\\p{L})${letters.toLowerCase()}\\p{L}* ${number}(?!\\d)`, 'u').test(small);
}

/** Words that are parts of names as often as numbers: `grand_total`, `unit:thousands`, `half_day`. */
const UNCOUNTED = /(?<!\p{L})(?:grand|hal(?:f|ves)|(?:quarter|dozen|hundred|thousand|million|billion)s)(?!\p{L})/giu;

/** Returns whether a text contains a number word that is not stated. One to three may be part of a name: `first_name`. */
function hasUnstatedNumberWord(text: string, { numbers }: Statement): boolean {
  for (const number of wordedNumbers(text.replace(UNCOUNTED, ','))) {
    if (number > 3 && !numbers.has(number) && !(number === 25 && /quarter/i.test(text))) return true;
  }
  return false;
}
