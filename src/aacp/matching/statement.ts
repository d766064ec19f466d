/** Finds the values that an instruction states, and those that follow from them. */

import type { InstructionItem, SpanItem, ValueItem } from './instruction/ast.js';
import { daysLater, isoDay, lastDayOf, resolveRelative } from './instruction/calendar.js';
import { wordedNumbers } from './instruction/numbers.js';
import { parseInstruction } from './instruction/parse.js';
import { type Slot, slotOf, TIME_KINDS } from './instruction/slots.js';
import { isDeterminer, isFunctionWord } from './instruction/words.js';
import { CALENDAR, numbersIn } from './occurrences.js';

export interface Statement {
  readonly small: string;
  /** The words in lower case; `true` if the instruction itself has the word in lower case. */
  readonly words: ReadonlyMap<string, boolean>;
  /** The values; also the first and last days of periods, and the dates of relative times. */
  readonly slots: readonly Slot[];
  readonly numbers: ReadonlySet<number>;
  /** Numbers that may be a time: not amounts, percentages, parts of ids, or numbers that count something. */
  readonly times: ReadonlySet<number>;
  /** Numbers of a date: "5 March", "the 5th", "2026". */
  readonly dates: ReadonlySet<number>;
  /** Nouns by the number that counts them: `days` of "30 days". */
  readonly counted: ReadonlyMap<number, string>;
  /** The first three letters of the names of days, months and seasons. */
  readonly calendar: ReadonlySet<string>;
}

/** Reads an instruction. @param givenAt the time at which it was given, in milliseconds since 1970 */
export function statementOf(instruction: string, givenAt: number): Statement {
  const small = ` ${instruction} `.toLowerCase();
  const items = parseInstruction(instruction) ?? [];
  const slots: Slot[] = [];
  const counted = new Map<number, string>();
  const times = new Set<number>();
  const dates = new Set<number>();
  const numbers = new Set([...numbersIn(small), ...wordedNumbers(small)]);
  // Groups of digits: 1 234 567, 020 7946 0958.
  for (const [grouped] of small.matchAll(/(?<!\d)\d+(?:[ \u00a0\u202f()-]+\d+)+/g))
    numbers.add(Number(grouped.replace(/\D/g, '')));
  let isWordCounted = false;
  items.forEach((item, index) => {
    if (item.kind === 'mark') return;
    const isNumber =
      item.kind === 'number' ||
      item.kind === 'year' ||
      (item.kind === 'word' && wordedNumbers(item.text.toLowerCase().replace(COUNTING, '')).size > 0);
    const noun = isNumber ? countedBy(items, index) : null;
    isWordCounted ||= noun !== null && item.kind !== 'span' && /^\p{L}/u.test(instruction.slice(item.start, item.end));
    if (item.kind === 'word') {
      if (noun !== null) for (const number of wordedNumbers(item.text)) counted.set(number, noun);
      return;
    }
    for (const value of item.kind === 'span' ? item.items : [item]) {
      const slot = slotOf(value, instruction);
      if (slot.digits !== undefined) numbers.add(Number(slot.digits));
      if (slot.kind === 'percent') numbers.add(Number(slot.digits) / 100);
      if (noun === null)
        for (const number of timesIn(value, slot)) (value.kind === 'number' ? times : dates).add(number);
      else counted.set(Number(slot.digits ?? slot.value), noun);
      const resolved = resolveRelative(slot, givenAt);
      slots.push(slot, ...daysOf((resolved ?? slot).item));
      for (const number of partsOf(resolved?.item)) dates.add(number);
    }
    if (item.kind === 'span') slots.push(...quartersOf(item));
  });
  // "at half past five", "on the twenty-first"
  if (!isWordCounted) for (const number of wordedNumbers(small.replace(COUNTING, ','))) times.add(number);
  for (const number of dates) times.add(number);
  for (const number of times) numbers.add(number);
  return {
    ...{ small, slots, numbers, times, dates, counted, words: wordsIn(instruction) },
    calendar: calendarIn(instruction, slots),
  };
}

/** Words of quantity that are never a time. */
const COUNTING = /(?<!\p{L})(?:an?|once|single|twice|both|couple|pair)(?!\p{L})/gu;

/**
 * Returns the noun that a number counts: a plural after it. With an article, the two are a name: "2026 chairs", but "the 2026 results".
 */
function countedBy(items: readonly InstructionItem[], index: number): string | null {
  const before = items[index - 1];
  if (before?.kind === 'word' && (isDeterminer(before.text.toLowerCase()) || /['\u2019]s?$/.test(before.text))) {
    return null;
  }
  for (let at = index + 1; at < items.length; at++) {
    const word = items[at];
    if (word?.kind !== 'word') return null;
    const text = word.text.toLowerCase();
    if (/[^s\u2019']s$/.test(text)) return text;
    if (isFunctionWord(text)) return null;
  }
  return null;
}

function timesIn(item: ValueItem, slot: Slot): readonly number[] {
  if (item.kind === 'number' || item.kind === 'ordinal' || item.kind === 'year') return [Number(slot.value)];
  return item.kind === 'time' ? [item.hour, item.minute, Number(slot.value.split(':')[0])] : partsOf(item);
}

function partsOf(item: ValueItem | undefined): readonly number[] {
  if (item === undefined || !TIME_KINDS.has(item.kind)) return [];
  const { start: _, end: _end, ...parts } = item;
  return Object.values(parts).filter((part) => typeof part === 'number');
}

/** Returns the first and last day and month of a period with a year, and the day after it. */
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
      // The first week contains 4 January (ISO 8601).
      const fourth = Date.UTC(year, 0, 4);
      const monday = daysLater(fourth, 1 - (new Date(fourth).getUTCDay() || 7) + 7 * (item.week - 1));
      return [0, 6, 7].map((days) => daySlot(daysLater(monday, days)));
    }
    default:
      return [];
  }
}

function monthDays(year: number, first: number, last: number): readonly Slot[] {
  const end = Date.UTC(year, last - 1, lastDayOf(year, last));
  const days = [Date.UTC(year, first - 1, 1), end, daysLater(end, 1)].map(daySlot);
  const months = [first, last].map((month) => textSlot({ kind: 'month', year, month, start: 0, end: 7 }));
  return first === last ? days : [...days, ...months];
}

function daySlot(time: number): Slot {
  const [year = 0, month = 0, day = 0] = isoDay(time).split('-').map(Number);
  return textSlot({ kind: 'date', year, month, day, start: 0, end: 10 });
}

/** Makes a slot of a value that is not in the text. */
function textSlot(item: ValueItem): Slot {
  const { value } = slotOf(item, '');
  return { ...slotOf(item, value), text: value };
}

/** Returns the quarter that consists of three months: "January to March 2026". */
function quartersOf({ items, joints }: SpanItem): readonly Slot[] {
  const [first, last] = [items[0], items.at(-1)];
  if (first?.kind !== 'month' || last?.kind !== 'month' || first.year === null) return [];
  const isQuarter = first.month % 3 === 1 && last.month === first.month + 2 && joints.every((joint) => joint === 'to');
  const quarter = Math.ceil(last.month / 3);
  return isQuarter ? [textSlot({ kind: 'quarter', year: first.year, quarter, start: 0, end: 7 })] : [];
}

/** Returns the names of days and months in a text, and of its dates. */
function calendarIn(sentence: string, slots: readonly Slot[]): ReadonlySet<string> {
  // In lower case, "may" and "march" are verbs.
  const names = (sentence.replace(/(?<=day)s(?!\p{L})/giu, '').match(CALENDAR) ?? []).filter(
    (name) => name !== 'may' && name !== 'march',
  );
  for (const { item } of slots) {
    if (item?.kind !== 'date' && item?.kind !== 'month') continue;
    const day = item.kind === 'date' ? item.day : null;
    if (item.month === null) continue;
    const time = new Date(Date.UTC(item.year ?? 2000, item.month - 1, day ?? 1));
    const [weekday = '', , month = ''] = time.toUTCString().split(' ');
    names.push(month, ...(day === null || item.year === null ? [] : [weekday]));
  }
  return new Set(names.map((name) => name.slice(0, 3).toLowerCase()));
}

export function wordsOf(text: string): readonly string[] {
  return text.match(/\p{L}[\p{L}\p{M}]*/gu) ?? [];
}

export function wordsIn(text: string): ReadonlyMap<string, boolean> {
  const words = new Map<string, boolean>();
  for (const word of wordsOf(text)) {
    const small = word.toLowerCase();
    words.set(small, words.get(small) === true || small === word);
  }
  return words;
}

/** Returns whether the instruction contains a word, or another form of an ordinary word. */
export function isWordStated(word: string, words: ReadonlyMap<string, boolean>): boolean {
  const small = word.toLowerCase();
  if (words.has(small) || words.has(`${small}s`) || (small.endsWith('s') && words.has(small.slice(0, -1)))) return true;
  for (const [other, isOrdinary] of words) {
    if (isOrdinary && small.length > 2 && other.startsWith(small)) return true;
    if (isOrdinary && other.length > 3 && small.startsWith(other)) return true;
  }
  return false;
}

/** Returns whether a text contains another one that is not part of a longer word or number. */
export function holdsWhole(text: string, part: string): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(`${text[at - 1] ?? ''}${text[at + part.length] ?? ''}`)) return true;
  }
  return false;
}

/** Returns whether an instruction contains the code, the sign or the name of a currency. */
export function isCurrencyStated(code: string, { small, slots }: Statement): boolean {
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
    // The code is not a currency.
    return false;
  }
}
