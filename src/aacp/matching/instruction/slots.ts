/** Slots: the values in an instruction, each in one form, so that two spellings of a value are equal. */
import type { AmountItem, DateItem, FiscalItem, NumberItem, TimeItem, ValueItem } from './ast.js';
import { withSmallHost } from './normalise.js';
import { plainDecimal } from './numbers.js';

/** `code`: an acronym, or the name of a department or a team. */
type SlotKind = ValueItem['kind'] | 'name' | 'code';

export interface Slot {
  readonly kind: SlotKind;
  /** What it says, in one form whatever its spelling: `2024-08-31`, `2026-Q2`, `4200 GBP`. Where that is open, its own text. */
  readonly value: string;
  /** As it stands in the instruction. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** It means something only together with the time at which it is said: `last month`, `Q2` without a year. */
  readonly relative: boolean;
  /** The digits of an amount or a number, without separators: `4200.5`; absent where they can be read in two ways. */
  readonly digits?: string | undefined;
  /** The currency of an amount: a code, or a sign that several currencies share. */
  readonly currency?: string | undefined;
  /** The parts that renderings need. */
  readonly item?: ValueItem | undefined;
}

/** Kinds that are a time. */
export const TIME_KINDS: ReadonlySet<SlotKind> = new Set([
  ...(['date', 'month', 'quarter', 'half', 'fiscal', 'week', 'year', 'relative', 'time'] as const),
]);

/** Signs of one currency each. A dollar, and what yen and yuan share, stay signs. */
const CURRENCIES: ReadonlyMap<string, string> = new Map([
  ['£', 'GBP'],
  ['€', 'EUR'],
  ['₹', 'INR'],
]);

/** @param source the instruction that the item stands in */
export function slotOf(item: ValueItem, source: string): Slot {
  const { kind, start, end } = item;
  const text = source.slice(start, end);
  return { kind, text, start, end, relative: isRelative(item), item, ...formOf(item, text) };
}

/** A name: capitalised words, without a genitive. */
export function nameSlot(text: string, start: number, end: number): Slot {
  const value = text.replace(/\s+/g, ' ');
  return { kind: 'name', value, text, start, end, relative: false };
}

/** An acronym, or the name of a department. */
export function codeSlot(text: string, start: number, end: number): Slot {
  return { kind: 'code', value: text.toUpperCase(), text, start, end, relative: false };
}

/** An id that is told by a word before it: `ticket 4711`. */
export function idSlot({ text, start, end }: Slot): Slot {
  return { kind: 'id', value: text, text, start, end, relative: false };
}

function formOf(item: ValueItem, text: string): Pick<Slot, 'value' | 'digits' | 'currency'> {
  switch (item.kind) {
    case 'date':
      return { value: dateValue(item, text) };
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
    case 'number':
    case 'percent':
    case 'ordinal':
    case 'terms':
      return countValue(item, text);
    case 'email':
      return { value: withSmallHost(text) };
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
  switch (item.kind) {
    case 'relative':
      return true;
    case 'date':
      // What can be read in two ways says its year, or it would not be read as a date.
      return item.year === null && item.month !== null;
    case 'month':
    case 'quarter':
    case 'half':
    case 'week':
      return item.year === null;
    default:
      return false;
  }
}

function dateValue({ year, month, day }: DateItem, text: string): string {
  return month === null || day === null ? text : `${year ?? '-'}-${two(month)}-${two(day)}`;
}

function fiscalValue({ year, last, quarter }: FiscalItem): string {
  return `FY${year}${last === null ? '' : `/${last}`}${quarter === null ? '' : `-Q${quarter}`}`;
}

function timeValue({ hour, minute, half }: TimeItem): string {
  const shift = half?.toLowerCase() === 'pm' && hour < 12 ? 12 : half?.toLowerCase() === 'am' && hour === 12 ? -12 : 0;
  return `${two(hour + shift)}:${two(minute)}`;
}

function amountValue(
  { number, scale, currency }: AmountItem,
  text: string,
): Pick<Slot, 'value' | 'digits' | 'currency'> {
  const digits = plainDecimal(number, scale);
  const code = CURRENCIES.get(currency) ?? currency;
  if (digits === null) return { value: text, currency: code };
  return { value: `${digits} ${code}`, digits, currency: code };
}

function countValue(
  item: NumberItem | Extract<ValueItem, { kind: 'percent' | 'ordinal' | 'terms' }>,
  text: string,
): Pick<Slot, 'value' | 'digits'> {
  const digits =
    item.kind === 'terms' ? String(item.days) : plainDecimal(item.number, item.kind === 'number' ? item.scale : null);
  return digits === null ? { value: text } : { value: digits, digits };
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
