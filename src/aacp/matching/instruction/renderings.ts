/** Styles in which packets write the values of slots. */

import { lastDayOf } from './calendar.js';
import { isCompanyForm } from './names.js';
import { type Slot, two } from './slots.js';

export interface Style {
  /** The name of the style. */
  readonly name: string;
  /** Writes a value. Returns `null` if the style does not apply to it. */
  readonly write: (slot: Slot) => string | null;
  /** The part of an amount that the style writes. Without it, the digits or the whole value. */
  readonly part?: 'currency' | undefined;
}

/** Returns the values of the placeholders of a template; `null` if the slot has none. */
type PartsOf = (slot: Slot) => Readonly<Record<string, string>> | null;

/** Makes a style of a template such as `{year}-{mm}`. It writes nothing if a placeholder has no value. */
function pattern(template: string, partsOf: PartsOf): Style {
  // Alternately literal text and the name of a placeholder.
  const pieces = template.split(/\{(\w+)\}/);
  return {
    name: template,
    write(slot) {
      const parts = partsOf(slot);
      if (parts === null) return null;
      let filled = pieces[0]!;
      for (let at = 1; at < pieces.length; at += 2) {
        const part = parts[pieces[at]!];
        if (part === undefined) return null;
        filled += part + pieces[at + 1]!;
      }
      return filled;
    },
  };
}

/** Caches the values of the last slot, since many templates write the same slot one after the other. */
function cached(partsOf: PartsOf): PartsOf {
  let last: Slot | undefined;
  let parts: ReturnType<PartsOf> = null;
  return (slot) => {
    if (slot !== last) {
      parts = partsOf(slot);
      last = slot;
    }
    return parts;
  };
}

function joined(places: readonly string[], joints: readonly string[]): readonly string[] {
  return joints.map((joint) => places.join(joint));
}

/** Returns the styles of a kind of slot, exact ones before derived ones. */
export function stylesOf(kind: Slot['kind']): readonly Style[] {
  return STYLES[kind];
}

const own: Style = { name: 'own', write: ({ text }) => text };
const value: Style = { name: 'value', write: ({ value: text }) => text };
const small: Style = { name: 'small', write: ({ text }) => text.toLowerCase() };

function fixed(digits: string, places: number): string {
  const [whole = '', fraction = ''] = digits.split('.');
  return `${whole}.${fraction.padEnd(places, '0')}`;
}

/** Makes a style such as `4.2k` or `1.5m`. */
function scaled(letter: string, zeros: number): Style {
  return {
    name: letter,
    write: ({ digits }) => {
      if (digits === undefined || digits.includes('.') || digits.length <= zeros) return null;
      const rest = digits.slice(-zeros).replace(/0+$/, '');
      return `${digits.slice(0, -zeros)}${rest === '' ? '' : `.${rest}`}${letter}`;
    },
  };
}

const DIGITS: readonly Style[] = [
  { name: 'digits', write: ({ digits }) => digits ?? null },
  { name: 'two places', write: ({ digits }) => (digits === undefined ? null : fixed(digits, 2)) },
  { name: 'one place', write: ({ digits }) => (digits === undefined ? null : fixed(digits, 1)) },
];

const THOUSANDS: Style = {
  name: 'thousands',
  write: ({ digits }) => {
    if (digits === undefined) return null;
    const [whole = '', fraction] = digits.split('.');
    const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
    return fraction === undefined ? grouped : `${grouped}.${fraction}`;
  },
};

const SIGNS: ReadonlyMap<string, string> = new Map(Object.entries({ GBP: '£', EUR: '€', INR: '₹', USD: '$' }));

const CURRENCY: readonly Style[] = [
  { name: 'code', part: 'currency', write: codeOf },
  { name: 'small code', part: 'currency', write: (slot) => codeOf(slot)?.toLowerCase() ?? null },
  { name: 'sign', part: 'currency', write: (slot) => SIGNS.get(codeOf(slot) ?? '') ?? null },
];

/** Returns the code of a currency. A dollar without a country counts as the US dollar; other signs have no code. */
function codeOf({ currency }: Slot): string | null {
  if (currency === '$') return 'USD';
  return currency !== undefined && /^[A-Z]{3}$/.test(currency) ? currency : null;
}

function worded(textOf: (slot: Slot) => string | null, name: string): readonly Style[] {
  const cases: readonly (readonly [name: string, (words: string) => string])[] = [
    ['', (words) => words],
    ['small ', (words) => words.toLowerCase()],
    ['capital ', (words) => words.toUpperCase()],
  ];
  return cases.flatMap(([form, change]) =>
    ['-', '_', ' ', '', '.'].map((joint) => ({
      name: `${name}${form}${joint === '' ? 'together' : joint}`,
      write: (slot: Slot) => {
        const words = textOf(slot);
        return words === null ? null : change(words.replace(/[\s-]+/g, joint));
      },
    })),
  );
}

function withoutForm({ value: name }: Slot): string | null {
  const words = name.split(' ');
  return words.length > 1 && isCompanyForm(words.at(-1) ?? '') ? words.slice(0, -1).join(' ') : null;
}

const NAMES: readonly Style[] = [...worded(({ value: text }) => text, ''), ...worded(withoutForm, 'short ')];

const IDS: readonly Style[] = [
  { name: 'id', write: ({ text }) => text.replace(/^#/, '') },
  { name: 'capital', write: ({ value: text }) => text.toUpperCase() },
  { name: 'small', write: ({ value: text }) => text.toLowerCase() },
  { name: '_', write: ({ text }) => text.replace(/^#/, '').replaceAll('-', '_') },
  { name: 'together', write: ({ text }) => text.replace(/^#/, '').replaceAll('-', '') },
  { name: 'number', write: ({ value: text }) => /^(?:[A-Za-z]{1,3}|[A-Za-z]+[-_/])(\d+)$/.exec(text)?.[1] ?? null },
];

function renamed(word: string, name: string): readonly Style[] {
  return worded(({ value: text }) => (text.startsWith(`${word} `) ? text.replace(word, name) : null), `${name} `);
}

/** Styles of relative times: `last_month`, `previous_month`, `monday`, ... */
const RELATIVE: readonly Style[] = [
  ...worded(({ value: text }) => text.replace(/^on /, ''), ''),
  ...renamed('last', 'previous'),
  ...renamed('last', 'prev'),
  ...renamed('this', 'current'),
];

/** Styles of terms of payment: `net30`. */
const TERMS: readonly Style[] = ['net', 'net-', 'net_', 'net ', 'NET', 'Net'].map((before) => ({
  name: before,
  write: ({ digits }) => (digits === undefined ? null : `${before}${digits}`),
}));

/** Returns the digits of an amount as written, without separators; `null` if they are ambiguous. */
export function givenDigits({ item, digits }: Slot): string | null {
  if (digits === undefined) return null;
  if (item?.kind !== 'amount' && item?.kind !== 'number') return digits;
  if (item.scale !== null) return digits;
  const plain = item.number.replace(/[,'\u2019](?=\d{3}(?:\D|$))/g, '');
  return /^\d+(?:\.\d+)?$/.test(plain) ? plain : digits;
}

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

/** Makes the styles of days. The last day of a month is also written as the month, at the end of a period. */
function datePatterns(): readonly Style[] {
  const months = YEAR_MONTH.map((template) => {
    const { write } = pattern(template, endedMonth);
    return { name: `month ${template}`, write };
  });
  return [...DATES.map((template) => pattern(template, dateParts)), ...months];
}

/** Makes the styles of months. The name alone is used only if the slot has no year. */
function monthPatterns(): readonly Style[] {
  const bare: PartsOf = ({ item }) => (item?.kind === 'month' && item.year === null ? monthParts(item.month) : null);
  return [
    ...YEAR_MONTH.map((template) => pattern(template, yearMonth)),
    ...['{Month}', '{month}', '{Mon}', '{mon}'].map((template) => pattern(template, bare)),
  ];
}

/** Makes the styles of quarters, halves and weeks. The year is omitted only if the slot has none. */
function yearPartPatterns(letter: 'Q' | 'H' | 'W'): readonly Style[] {
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

/** Makes the styles of fiscal years, their quarters and spans, each with all parts of the slot. */
function fiscalPatterns(): readonly Style[] {
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

const yearMonth = cached(({ item }) =>
  item?.kind === 'month' ? { ...yearParts(item.year), ...monthParts(item.month) } : null,
);

const dateParts = cached(({ item }) => {
  if (item?.kind !== 'date' || item.month === null || item.day === null) return null;
  return { ...yearParts(item.year), ...monthParts(item.month), dd: two(item.day), d: String(item.day) };
});

const endedMonth = cached((slot) => {
  const { item } = slot;
  if (item?.kind !== 'date' || item.year === null || item.month === null) return null;
  return item.day === lastDayOf(item.year, item.month) ? dateParts(slot) : null;
});

const yearPart = cached(({ item }) => {
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

const STYLES: Readonly<Record<Slot['kind'], readonly Style[]>> = {
  date: [...datePatterns(), own],
  month: [...monthPatterns(), own],
  quarter: [...yearPartPatterns('Q'), own],
  half: [...yearPartPatterns('H'), own],
  week: [...yearPartPatterns('W'), own],
  fiscal: [...fiscalPatterns(), own],
  year: [value],
  relative: RELATIVE,
  time: [value, { name: 'digits', write: ({ value: text }) => text.replace(':', '') }, own],
  amount: [...DIGITS, ...[scaled('k', 3), scaled('K', 3), scaled('m', 6), scaled('M', 6)], THOUSANDS, ...CURRENCY],
  number: DIGITS,
  percent: DIGITS,
  ordinal: [...DIGITS, own],
  terms: [...TERMS, ...DIGITS],
  id: IDS,
  handle: [own, small],
  agent: [own, small, { name: 'capital', write: ({ text }) => text.toUpperCase() }],
  email: [own, small],
  url: [own],
  quoted: NAMES,
  code: [own, small, { name: 'capital', write: ({ text }) => text.toUpperCase() }],
  name: NAMES,
};
