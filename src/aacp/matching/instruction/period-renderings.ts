/** How packets write days and periods. */
import { lastDayOf } from './calendar.js';
import type { Slot } from './slots.js';
import { joined, type PartsOf, pattern, remembered, type Style } from './style.js';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const JOINTS = ['-', '_', ' ', ''];

const YEAR_MONTH: readonly string[] = [
  ...joined(['{year}', '{mm}'], ['-', '_', '/', '.', '']),
  ...joined(['{mm}', '{year}'], ['-', '_', '/']),
  ...['{Mon}', '{mon}', '{MON}', '{Month}', '{month}'].flatMap((month) => joined([month, '{year}'], JOINTS)),
  ...['{Mon}', '{mon}', '{month}'].flatMap((month) => joined(['{year}', month], ['-', '_'])),
  '{Mon}-{yy}',
];

const DATES: readonly string[] = [
  ...joined(['{year}', '{mm}', '{dd}'], ['-', '', '_', '/', '.']),
  ...joined(['{dd}', '{mm}', '{year}'], ['/', '-', '.', '_']),
  '{mm}/{dd}/{year}',
  ...['{d}', '{dd}'].flatMap((day) =>
    ['{Mon}', '{mon}', '{Month}', '{month}'].flatMap((month) => joined([day, month, '{year}'], ['-', '_', ' '])),
  ),
  '{year}-{Mon}-{dd}',
];

/** Days; and for the last day of a month the month, which it stands for where a period ends with it. */
export function datePatterns(): readonly Style[] {
  const months = YEAR_MONTH.map((template) => {
    const { write } = pattern(template, endedMonth);
    return { name: `month ${template}`, write };
  });
  return [...DATES.map((template) => pattern(template, dateParts)), ...months];
}

/** Months; the name alone only where the slot says no year. */
export function monthPatterns(): readonly Style[] {
  const bare: PartsOf = ({ item }) => (item?.kind === 'month' && item.year === null ? monthParts(item.month) : null);
  return [
    ...YEAR_MONTH.map((template) => pattern(template, yearMonth)),
    ...['{Month}', '{month}', '{Mon}', '{mon}'].map((template) => pattern(template, bare)),
  ];
}

/** Quarters, halves and weeks; without a year only where the slot says none. */
export function yearPartPatterns(letter: 'Q' | 'H' | 'W'): readonly Style[] {
  return [letter, letter.toLowerCase()].flatMap((sign) => {
    const part = `${sign}{number}`;
    const templates = [
      ...joined(['{year}', part], ['-', '_', '', '/', ' ']),
      ...joined([part, '{year}'], ['-', '_', '/', ' ', '']),
      ...joined([part, '{yy}'], ['-', '_', '']),
    ];
    return [
      ...templates.map((template) => pattern(template, yearPart)),
      pattern(part, (slot) => (hasYear(slot) ? null : yearPart(slot))),
    ];
  });
}

/** Fiscal years, their quarters and spans: each with all that the slot says. */
export function fiscalPatterns(): readonly Style[] {
  const years = ['FY{year}', 'FY{yy}'];
  const styles = (templates: readonly string[], last: boolean, quarter: boolean): readonly Style[] =>
    templates.map((template) => pattern(template, (slot) => fiscalParts(slot, last, quarter)));
  return [
    ...styles([...years, 'FY-{year}', 'FY_{year}'], false, false),
    ...styles(
      [...years, '{year}'].flatMap((year) => joined([year, '{last}'], ['/', '-', '_'])),
      true,
      false,
    ),
    ...styles(
      years.flatMap((year) => joined([year, 'Q{quarter}'], JOINTS)),
      false,
      true,
    ),
    ...styles([...years.flatMap((year) => joined(['Q{quarter}', year], JOINTS)), '{year}-Q{quarter}'], false, true),
  ];
}

function yearParts(year: number | null): Record<string, string> {
  return year === null ? {} : { year: String(year), yy: two(year % 100) };
}

function monthParts(month: number): Record<string, string> {
  const name = MONTHS[month - 1] ?? '';
  const short = name.slice(0, 3);
  return {
    ...{ mm: two(month), Month: name, month: name.toLowerCase() },
    ...{ Mon: short, mon: short.toLowerCase(), MON: short.toUpperCase() },
  };
}

const yearMonth = remembered(({ item }) =>
  item?.kind === 'month' ? { ...yearParts(item.year), ...monthParts(item.month) } : null,
);

const dateParts = remembered(({ item }) => {
  if (item?.kind !== 'date' || item.month === null || item.day === null) return null;
  return { ...yearParts(item.year), ...monthParts(item.month), dd: two(item.day), d: String(item.day) };
});

const endedMonth = remembered((slot) => {
  const { item } = slot;
  if (item?.kind !== 'date' || item.year === null || item.month === null) return null;
  return item.day === lastDayOf(item.year, item.month) ? dateParts(slot) : null;
});

const yearPart = remembered(({ item }) => {
  if (item?.kind === 'quarter') return { ...yearParts(item.year), number: String(item.quarter) };
  if (item?.kind === 'half') return { ...yearParts(item.year), number: String(item.half) };
  return item?.kind === 'week' ? { ...yearParts(item.year), number: two(item.week) } : null;
});

function hasYear({ item }: Slot): boolean {
  return item !== undefined && 'year' in item && item.year !== null;
}

function fiscalParts({ item }: Slot, last: boolean, quarter: boolean): Record<string, string> | null {
  if (item?.kind !== 'fiscal' || (item.last !== null) !== last || (item.quarter !== null) !== quarter) return null;
  return {
    ...yearParts(item.year),
    ...(item.last === null ? {} : { last: two(item.last) }),
    ...(item.quarter === null ? {} : { quarter: String(item.quarter) }),
  };
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
