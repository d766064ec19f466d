/** Slots: the values of an instruction in a common form, so that two spellings of a value are equal. */
import type { ValueItem } from './ast.js';
import { withLowerCaseHost } from './normalise.js';
import { plainDecimal } from './numbers.js';

/** The kind of a slot. `code` is an acronym, or the name of a department or a team. */
type SlotKind = ValueItem['kind'] | 'name' | 'code';

export interface Slot {
  readonly kind: SlotKind;
  /** The common form of all spellings: `2024-08-31`, `2026-Q2`, `4200 GBP`. If the value is ambiguous, its text. */
  readonly value: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** `true` if the value depends on the time at which it is given: `last month`, `Q2` without a year. */
  readonly relative: boolean;
  /** The digits of an amount or a number, without separators: `4200.5`. Absent if they are ambiguous. */
  readonly digits?: string | undefined;
  /** The currency of an amount: a code, or a sign that several currencies share. */
  readonly currency?: string | undefined;
  readonly item?: ValueItem | undefined;
}

export const TIME_KINDS: ReadonlySet<SlotKind> = new Set<SlotKind>([
  'date',
  'month',
  'quarter',
  'half',
  'fiscal',
  'week',
  'year',
  'relative',
  'time',
]);

/** Signs that belong to one currency. The dollar sign, and the sign of yen and yuan, are not converted. */
const CURRENCIES: ReadonlyMap<string, string> = new Map(Object.entries({ '£': 'GBP', '€': 'EUR', '₹': 'INR' }));

export function slotOf(item: ValueItem, source: string): Slot {
  const { kind, start, end } = item;
  const text = source.slice(start, end);
  return { kind, text, start, end, relative: isRelative(item), item, ...formOf(item, text) };
}

/** Makes a slot without an item: a name, an acronym, or an id that is recognised by the word before it, as in `ticket 4711`. */
export function plainSlot(
  kind: 'name' | 'code' | 'id',
  value: string,
  { text, start, end }: Pick<Slot, 'text' | 'start' | 'end'>,
): Slot {
  return { kind, value, text, start, end, relative: false };
}

type ItemOf<Kind> = Extract<ValueItem, { readonly kind: Kind }>;
type SlotForm = Pick<Slot, 'value' | 'digits' | 'currency'>;

function formOf(item: ValueItem, text: string): SlotForm {
  switch (item.kind) {
    case 'date':
      if (item.month === null || item.day === null) return { value: text };
      return { value: `${item.year ?? '-'}-${two(item.month)}-${two(item.day)}` };
    case 'month':
      return { value: `${item.year ?? '-'}-${two(item.month)}` };
    case 'quarter':
      return { value: `${item.year ?? '-'}-Q${item.quarter}` };
    case 'half':
      return { value: `${item.year ?? '-'}-H${item.half}` };
    case 'week':
      return { value: `${item.year ?? '-'}-W${two(item.week)}` };
    case 'fiscal':
      return { value: fiscalValue(item) };
    case 'year':
      return { value: String(item.year) };
    case 'relative':
      return { value: item.unit === 'day' && item.which.length > 4 ? item.which : `${item.which} ${item.unit}` };
    case 'time':
      return { value: timeValue(item) };
    case 'amount':
      return amountValue(item, text);
    case 'terms':
      return { value: String(item.days), digits: String(item.days) };
    case 'number':
      return countValue(plainDecimal(item.number, item.scale), text);
    case 'percent':
    case 'ordinal':
      return countValue(plainDecimal(item.number, null), text);
    case 'email':
      return { value: withLowerCaseHost(text) };
    case 'agent':
      return { value: text.toLowerCase() };
    case 'id':
      return { value: text.replace(/^#/, '') };
    case 'quoted':
      return { value: item.text };
    case 'handle':
    case 'url':
      return { value: text };
  }
}

function isRelative(item: ValueItem): boolean {
  // An ambiguous date has a year; otherwise it is not read as a date.
  return item.kind === 'relative' || ('year' in item && item.year === null);
}

function fiscalValue({ year, last, quarter }: ItemOf<'fiscal'>): string {
  return `FY${year}${last === null ? '' : `/${last}`}${quarter === null ? '' : `-Q${quarter}`}`;
}

function timeValue({ hour, minute, half }: ItemOf<'time'>): string {
  const shift = half?.toLowerCase() === 'pm' && hour < 12 ? 12 : half?.toLowerCase() === 'am' && hour === 12 ? -12 : 0;
  return `${two(hour + shift)}:${two(minute)}`;
}

function amountValue({ number, scale, currency }: ItemOf<'amount'>, text: string): SlotForm {
  const digits = plainDecimal(number, scale);
  const code = CURRENCIES.get(currency) ?? currency;
  if (digits === null) return { value: text, currency: code };
  return { value: `${digits} ${code}`, digits, currency: code };
}

function countValue(digits: string | null, text: string): SlotForm {
  return digits === null ? { value: text } : { value: digits, digits };
}

/** Formats a number with at least two digits. */
export function two(number: number): string {
  return String(number).padStart(2, '0');
}
