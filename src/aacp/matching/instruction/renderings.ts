/** How packets write the values of slots. */
import { isCompanyForm } from './names.js';
import { datePatterns, fiscalPatterns, monthPatterns, yearPartPatterns } from './period-renderings.js';
import type { Slot } from './slots.js';
import type { Style } from './style.js';

/** The ways to write a slot of this kind, exact ones before derived ones. */
export function stylesOf(kind: Slot['kind']): readonly Style[] {
  return STYLES[kind];
}

const own: Style = { name: 'own', write: ({ text }) => text };
const value: Style = { name: 'value', write: ({ value: text }) => text };
const small: Style = { name: 'small', write: ({ text }) => text.toLowerCase() };

/** Digits with a point and so many places at least. */
function fixed(digits: string, places: number): string {
  const [whole = '', fraction = ''] = digits.split('.');
  return `${whole}.${fraction.padEnd(places, '0')}`;
}

/** `4.2k`, `1.5m` */
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

const SIGNS: ReadonlyMap<string, string> = new Map([
  ['GBP', '£'],
  ['EUR', '€'],
  ['INR', '₹'],
  ['USD', '$'],
]);

const CURRENCY: readonly Style[] = [
  { name: 'code', part: 'currency', write: codeOf },
  { name: 'small code', part: 'currency', write: (slot) => codeOf(slot)?.toLowerCase() ?? null },
  { name: 'sign', part: 'currency', write: (slot) => SIGNS.get(codeOf(slot) ?? '') ?? null },
];

/** A dollar is written as the US one: where the packet has another, its place is not found. Other signs have no code. */
function codeOf({ currency }: Slot): string | null {
  if (currency === '$') return 'USD';
  return currency !== undefined && /^[A-Z]{3}$/.test(currency) ? currency : null;
}

/** The ways to join words, in each case of letters. */
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

/** The name of a company without what it is. */
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

/** Another word for the first of a relative time, where it begins with that. */
function renamed(word: string, name: string): readonly Style[] {
  return worded(({ value: text }) => (text.startsWith(`${word} `) ? text.replace(word, name) : null), `${name} `);
}

/** `last_month`, `previous_month`, `monday`, ... */
const RELATIVE: readonly Style[] = [
  ...worded(({ value: text }) => text.replace(/^on /, ''), ''),
  ...renamed('last', 'previous'),
  ...renamed('last', 'prev'),
  ...renamed('this', 'current'),
];

/** `net30` */
const TERMS: readonly Style[] = ['net', 'net-', 'net_', 'net ', 'NET', 'Net'].map((before) => ({
  name: before,
  write: ({ digits }) => (digits === undefined ? null : `${before}${digits}`),
}));

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

/**
 * The digits of an amount as the instruction has them, but for separators: what is filled in where the packet has plain digits.
 * `null` where they can be read in two ways.
 */
export function givenDigits({ item, digits }: Slot): string | null {
  if (digits === undefined) return null;
  if (item?.kind !== 'amount' && item?.kind !== 'number') return digits;
  if (item.scale !== null) return digits;
  const plain = item.number.replace(/[,'\u2019](?=\d{3}(?:\D|$))/g, '');
  return /^\d+(?:\.\d+)?$/.test(plain) ? plain : digits;
}
