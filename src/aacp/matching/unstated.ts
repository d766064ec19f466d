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
  findPlaces,
  isOfName,
  isOwnPlace,
  NUMBER,
  numbersIn,
  type Place,
  REQUEST_KEYS,
} from './places.js';
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
 * Lists the values of a packet that are neither in the instruction nor follow from it by the calendar: first and last days of periods, and
 * the dates of relative times on the day on which it was given (UTC).
 *
 * @param givenAt milliseconds since 1970: the time at which the instruction was given
 */
export function unstatedIn(packet: string, instruction: string, givenAt: number): readonly Unstated[] {
  const day = Math.floor(givenAt / DAY);
  const before = known.get(instruction);
  if (before !== undefined && before.packet === packet && before.day === day) return before.found;
  const found = compare(packet, instruction, givenAt);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(instruction, { packet, day, found });
  return found;
}

/** When the instruction of an entry was given, in milliseconds since 1970. */
export function givenAtOf({ givenAt, createdAt }: Pick<RegistryEntry, 'givenAt' | 'createdAt'>): number {
  return givenAt ?? createdAt;
}

/** Returns a time of an entry's packet that was worked out on a day (UTC) that is over; `null` if the entry may be served. */
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

/** Words that make a longer name that of a time: `order_year`. */
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
  const all = findPlaces(packet, statement.slots, givenAt);
  const places = all.filter((place) => isOwnPlace(packet, place, all));
  const found: Unstated[] = [];
  packet.fields.forEach(({ key: written, value }, field) => {
    const key = lowerAscii(written);
    if (REQUEST_KEYS.has(key)) return;
    if (key === 'ccy' && /^\p{L}+$/u.test(value)) {
      if (!isCurrencyStated(value, statement)) found.push({ kind: 'value', key, text: value });
      return;
    }
    if (hasTimeInName(key, statement)) found.push({ kind: 'time', key, text: written });
    const own = places.filter((place) => place.field === field);
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

/** Whether a value may stand in a place for a time. Numbers are checked apart. */
function mayBeTime({ slot }: Place, text: string, { counted }: Statement): boolean {
  if (TIMELESS.has(slot.kind)) return false;
  const isTime = (TIME_KINDS.has(slot.kind) || slot.kind === 'ordinal') && !counted.has(Number(text));
  return isTime || !/^\d+$/.test(text);
}

/** The numbers that an item may have. For a time, the unit has to be stated, "month 11" for `month=11`, except for hours. */
function numbersFor(
  { name }: Item,
  isTimed: boolean,
  { numbers, times, dates, words }: Statement,
): ReadonlySet<number> {
  if (!isTimed) return numbers;
  const unit = UNITS.exec(name)?.[1] ?? name;
  return unit === 'hour' || unit === 'minute' || isWordStated(unit, words) ? times : dates;
}

/** The kind of value of an item that the instruction does not state. */
function unstatedKind(
  item: Item,
  key: string,
  places: readonly Place[],
  statement: Statement,
): Unstated['kind'] | null {
  const isTimed = TIMED.has(item.name) || UNITS.test(item.name);
  const within = places
    .map((place) => ({ place, start: place.start - item.start, end: place.end - item.start }))
    .filter(({ start, end }) => start >= 0 && end <= item.text.length);
  const rest = blanked(
    item.text,
    within.filter(({ place, start, end }) => !isTimed || mayBeTime(place, item.text.slice(start, end), statement)),
  );
  const numbers = [...unstatedNumbers(rest, numbersFor(item, isTimed, statement), statement)].filter(
    ({ digits, isPartOfName }) => !(isPartOfName && key === 'fmt' && !YEARLY.test(digits)),
  );
  // "v2" is a name; any other number may be worked out from the day: a year, a sum to date, the days that are left.
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

/** Whether a key has a time that the instruction does not state: `q3_2026`, `november`. */
function hasTimeInName(name: string, statement: Statement): boolean {
  const numbers = unstatedNumbers(name, statement.numbers, statement);
  if ([...numbers].some(({ digits, isPartOfName }) => !isPartOfName || YEARLY.test(digits))) return true;
  return hasUnstatedName(name.replace(/(?<!\p{L})may(?!\p{L})/gu, ' '), statement);
}

/** Full names of days and months, which count within other words, too. */
const WHOLE = /january|february|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day/gi;

function hasUnstatedName(rest: string, { calendar, words }: Statement): boolean {
  // "reportNov" is two words.
  const parted = rest.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ');
  const names = [...(parted.match(CALENDAR) ?? []), ...(rest.match(WHOLE) ?? [])];
  if (names.some((name) => !calendar.has(name.slice(0, 3).toLowerCase()))) return true;
  return wordsOf(parted).some((word) => isForeignName(word.toLowerCase()) && !words.has(word.toLowerCase()));
}

/** Whether there are digits of another script that the instruction does not have. */
function hasForeignDigits(rest: string, { small }: Statement): boolean {
  return (rest.match(/[^\P{Nd}0-9]+/gu) ?? []).some((digits) => !small.includes(digits));
}

/** Keys of facts that only a person or a record can vouch for. */
const VOUCHED: ReadonlySet<string> = new Set(['actor', 'chain', 'req', 'rules']);

/**
 * Finds an actor, a chain, a demand or rules that a packet has and the instruction does not state. An audit trail that nobody stated is
 * worse than asking the model.
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

interface Item {
  /** The offset of the text in the value. */
  readonly start: number;
  readonly name: string;
  readonly text: string;
}

/** Splits a value into items, each with the name before its sign of comparison, or else the key. */
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

/** An address, an agent, or a capitalised word. */
function looksLikeName(text: string): boolean {
  return /\S@\S|:\/\/|-Agent(?![\p{L}\p{N}])/iu.test(text) || /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}{2,}/u.test(text);
}

interface FoundNumber {
  readonly digits: string;
  /** Letters stand before it: `payroll_v2`. */
  readonly isPartOfName: boolean;
}

/** Letters before a number for a length of time, a sum or terms of payment. */
const MEASURED = /^(?:pt?|net|total|gbp|eur|usd)$/i;

/** Lists numbers of a text that are not among those given, and times of day that are not stated. */
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

/** Whether the counted noun is behind the number: `30d`, `P30D`, `last_30_days` for "30 days". */
function isCounted(noun: string | undefined, behind: string): boolean {
  const letters = /^[-_ ]?(\p{L}+)/u.exec(behind)?.[1]?.toLowerCase();
  return noun !== undefined && letters !== undefined && (noun.startsWith(letters) || letters.startsWith(noun));
}

/**
 * Whether an instruction states a time of day: `17:00` by "5 pm", "at 5" or "17.00", `12:00` by "noon", `05:30` by "half past five".
 *
 * @param isOfDay whether a day is before it, of which it may be the first or last moment
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

/** Whether letters begin the word before a number: "week 48" for `w48`, "Microsoft 365" for `m365`. */
function saysInFull(small: string, letters: string, number: string): boolean {
  if (letters === '' || !/^\d+$/.test(number)) return false;
  return new RegExp(`(?<!\\p{L})${letters.toLowerCase()}\\p{L}* ${number}(?!\\d)`, 'u').test(small);
}

/** Words that are parts of names as often as numbers: `grand_total`, `unit:thousands`, `half_day`. */
const UNCOUNTED = /(?<!\p{L})(?:grand|hal(?:f|ves)|(?:quarter|dozen|hundred|thousand|million|billion)s)(?!\p{L})/giu;

/** Whether a text has a number word that is not stated. One to three may be part of a name: `first_name`. */
function hasUnstatedNumberWord(text: string, { numbers }: Statement): boolean {
  for (const number of wordedNumbers(text.replace(UNCOUNTED, ','))) {
    if (number > 3 && !numbers.has(number) && !(number === 25 && /quarter/i.test(text))) return true;
  }
  return false;
}
