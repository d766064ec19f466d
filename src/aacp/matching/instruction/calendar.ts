/** Computes days, weeks and quarters in UTC. Times are milliseconds since 1970. An invalid time counts as 1970. */

import type { InstructionItem, ValueItem } from './ast.js';
import { parseInstruction } from './parse.js';
import { type Slot, slotOf } from './slots.js';

const DAY = 86_400_000;
/** The last time that a `Date` can represent. */
const FARTHEST = 8_640_000_000_000_000;

/** Returns the day of a time: `2026-11-22`. */
export function isoDay(time: number): string {
  return dateOf(time).toISOString().split('T')[0]!;
}

/** Returns the week of a time by ISO 8601, which belongs to the year of its Thursday: `2026-W47`. */
function isoWeek(time: number): string {
  const date = dateOf(time);
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * DAY);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY)) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/** Returns the quarter of a time: `2026-Q4`. */
function quarterOf(time: number): string {
  const date = dateOf(time);
  return `${date.getUTCFullYear()}-Q${Math.floor(date.getUTCMonth() / 3) + 1}`;
}

/** Returns the first day of the month that is `months` later, or earlier if the number is negative. */
function monthsLater(time: number, months: number): number {
  const date = dateOf(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
}

export function daysLater(time: number, days: number): number {
  return dateOf(time).getTime() + days * DAY;
}

export function lastDayOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function dateOf(time: number): Date {
  const known = Number.isFinite(time) ? time : 0;
  return new Date(Math.min(Math.max(known, -62_135_596_800_000), FARTHEST - 400 * DAY));
}

/** The languages whose names of months and days are recognised, in addition to English, which the grammar reads. */
const LANGUAGES = ['de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'da', 'fi', 'cs', 'tr'];

let names: ReadonlySet<string> | undefined;

/** Returns whether a word in lower case is the name of a month or weekday in one of the languages. */
export function isForeignName(word: string): boolean {
  names ??= new Set(LANGUAGES.flatMap(namesIn));
  return names.has(word);
}

function namesIn(language: string): readonly string[] {
  const nameOf = (options: Intl.DateTimeFormatOptions): ((day: Date) => string) => {
    const { format } = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
    return (day) => format(day).toLowerCase();
  };
  const months = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2024, month, 1)));
  const days = Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2024, 0, 1 + day)));
  return [...months.map(nameOf({ month: 'long' })), ...days.map(nameOf({ weekday: 'long' }))];
}

const STEPS: ReadonlyMap<string, number> = new Map(Object.entries({ last: -1, this: 0, next: 1 }));
const DAYS: ReadonlyMap<string, number> = new Map(Object.entries({ yesterday: -1, today: 0, tomorrow: 1 }));

/**
 * Returns the day, week, month, quarter or year to which a slot refers at a given time. Returns `null` for fiscal years, weekdays and ends of
 * periods, which cannot be resolved by the calendar alone.
 */
export function resolveRelative(slot: Slot, now: number): Slot | null {
  if (slot.item?.kind !== 'relative') return null;
  const text = calendarText(slot.item, now);
  if (text === null) return null;
  const [item] = parseInstruction(text) ?? [];
  if (item === undefined || item.kind === 'word' || item.kind === 'mark' || item.kind === 'span') return null;
  return { ...slotOf(item, text), start: slot.start, end: slot.end };
}

function calendarText({ which, unit: name }: Extract<ValueItem, { kind: 'relative' }>, now: number): string | null {
  const unit = UNITS.find((one) => one === name);
  const step = (unit === 'day' ? DAYS : STEPS).get(which);
  if (unit === undefined || step === undefined) return null;
  if (unit === 'day' || unit === 'week') return anchorAt(unit, daysLater(now, unit === 'day' ? step : 7 * step));
  return anchorAt(unit, monthsLater(now, step * { month: 1, quarter: 3, year: 12 }[unit]));
}

export type Unit = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** The units, finest first. */
const UNITS: readonly Unit[] = ['day', 'week', 'month', 'quarter', 'year'];

/** Returns a normal form with the date to which its relative times refer. It identifies an instruction in a registry. */
export function anchoredForm(plain: string, unit: Unit | null, now: number): string {
  // A normal form never contains two spaces.
  return unit === null ? plain : `${plain}  ${anchorAt(unit, now)}`;
}

/** Returns the finest unit of the relative times of an instruction, or `null` if it does not depend on the time. */
export function relativeUnit(instruction: string): Unit | null {
  const items = parseInstruction(instruction);
  // An instruction that was not parsed may contain relative times.
  return items === null ? 'day' : relativeUnitOf(items, instruction);
}

/** Returns the finest unit of the relative times of a parsed instruction. */
export function relativeUnitOf(items: readonly InstructionItem[], source: string): Unit | null {
  const units = new Set<Unit>();
  items.forEach((item, index) => {
    if (item.kind === 'word' || item.kind === 'mark') {
      const unit = item.kind === 'word' ? lengthOfTime(item.text, index) : null;
      if (unit !== null) units.add(unit);
      return;
    }
    for (const value of item.kind === 'span' ? item.items : [item]) {
      if (slotOf(value, source).relative) units.add(unitOf(value));
    }
  });
  return UNITS.find((unit) => units.has(unit)) ?? null;

  /** Returns the unit of a duration: "last 30 days", "30 days ago", "in 3 months". Returns `null` for any other word. */
  function lengthOfTime(word: string, index: number): Unit | null {
    const [, name] = /^(day|week|month|quarter|year)s?$/i.exec(word) ?? [];
    const before = items[index - 1];
    if (name === undefined || before?.kind !== 'number') return null;
    const around = [items[index - 2], items[index + 1]];
    const isRelative = around.some(
      (item) => item?.kind === 'word' && /^(?:last|past|previous|next|coming|ago|from)$/i.test(item.text),
    );
    return isRelative ? (name.toLowerCase() as Unit) : null;
  }
}

function unitOf(item: ValueItem): Unit {
  if (item.kind !== 'relative') return 'year';
  const unit = item.unit.replace(/^fiscal /, '');
  return UNITS.find((one) => one === unit) ?? 'day';
}

/** Returns the day, week, month, quarter or year (UTC) of a time: `2026-11-22`, `2026-W47`, `2026-11`, `2026-Q4`, `2026`. */
export function anchorAt(unit: Unit, now: number): string {
  const day = isoDay(now);
  if (unit === 'day') return day;
  if (unit === 'week') return isoWeek(now);
  if (unit === 'month') return day.slice(0, -3);
  if (unit === 'quarter') return quarterOf(now);
  return day.slice(0, -6);
}
