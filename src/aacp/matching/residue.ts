/** What a packet holds beside the places of values: whether it may have been worked out from one of them. */
import type { Packet } from '../ast.js';
import { isCompanyForm } from './instruction/names.js';
import { type Slot, TIME_KINDS } from './instruction/slots.js';
import { type Place, REQUEST_KEYS } from './places.js';

/** What looks like a time: years, days, quarters, months by name. */
const TIME =
  /(?<!\d)(?:19|20)\d\d(?!\d)|(?<!\d)(?:\d{6}|\d{8})(?!\d)|(?<![a-z\d])(?:[qh][1-4]|w\d\d|fy\d\d|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)(?![a-z])|(?<![a-z])(?:january|february|march|april|june|july|august|september|october|november|december)(?![a-z])|(?<!\d)\d{1,2}[-/.]\d{1,2}(?!\d)/;

/** What looks like an amount. */
const AMOUNT = /(?<![\d.])\d{3,}(?:\.\d+)?(?!\d)|\d\.\d/;

/** The values of a packet, with the places of values taken out; one text a field, those of the request left out. */
export function residueOf(packet: Packet, places: readonly Place[]): readonly string[] {
  return blanked(packet, places).map((text) => text.toLowerCase());
}

function blanked(packet: Packet, places: readonly Place[]): readonly string[] {
  const rest: string[] = [];
  packet.fields.forEach(({ key, value }, field) => {
    if (REQUEST_KEYS.has(key)) return;
    let text = value;
    for (const place of places) {
      if (place.field !== field) continue;
      text = `${text.slice(0, place.start)}${' '.repeat(place.end - place.start)}${text.slice(place.end)}`;
    }
    if (text.trim() !== '') rest.push(text);
  });
  return rest;
}

/** What in the rest of a packet may come from a value; `null` for nothing. */
export function traceOf(slot: Slot, rest: readonly string[]): string | null {
  for (const text of rest) {
    const trace = traceIn(slot, text);
    if (trace !== null) return trace;
  }
  return null;
}

/** What looks like a time in the rest of a packet; `null` for nothing. */
export function timeIn(rest: readonly string[]): string | null {
  for (const text of rest) {
    const found = TIME.exec(text)?.[0];
    if (found !== undefined) return found;
  }
  return null;
}

function traceIn(slot: Slot, text: string): string | null {
  if (TIME_KINDS.has(slot.kind)) return timeIn([text]);
  if (slot.kind === 'amount') return AMOUNT.exec(text)?.[0] ?? null;
  if (slot.digits !== undefined) return wordIn(text, slot.digits);
  return fragmentsOf(slot).find((fragment) => holds(text, fragment)) ?? null;
}

/** The parts of a value that others are made of: `smith` of Jane Smith, `j.smith` of an address, `441` of PO-441. */
function fragmentsOf({ kind, value }: Slot): readonly string[] {
  // What an address ends with is no part of anybody's name.
  const told = kind === 'email' ? value.slice(0, value.lastIndexOf('.')) : value;
  const parts = told.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  // Letters of an id say what kind of thing it names.
  if (kind === 'id') return parts.flatMap((part) => part.match(/\d{2,}|(?<=^\d+)\p{L}{1,3}$/gu) ?? []);
  if (kind === 'url') return parts.filter((part) => part.length > 4);
  const words = parts.filter((part) => part.length > 2 && !isCompanyForm(part));
  return kind === 'name' && parts.length > 1 ? [...words, parts.map(([first = '']) => first).join('')] : words;
}

/** Short fragments come about by chance within other words. */
function holds(text: string, fragment: string): boolean {
  for (let at = text.indexOf(fragment); at >= 0; at = text.indexOf(fragment, at + 1)) {
    const around = `${text[at - 1] ?? ''}${text[at + fragment.length] ?? ''}`;
    if (fragment.length > 3 || !/\p{L}/u.test(around)) return true;
  }
  return false;
}

function wordIn(text: string, digits: string): string | null {
  const at = text.indexOf(digits);
  if (at < 0) return null;
  const around = `${text[at - 1] ?? ''}${text[at + digits.length] ?? ''}`;
  return /\d/.test(around) ? null : digits;
}

/** A day, a time of day, or a number with what joins its digits. */
export const NUMBER = /\d{4}-\d\d(?:-\d\d)?(?!\d)|\d+:\d\d(?::\d\d)?|\d+(?:[.,]\d+)*/g;

/** Names of days, months and seasons. */
export const CALENDAR =
  /(?<!\p{L})(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|spring|summer|autumn|fall|winter)(?!\p{L})/giu;

/**
 * A number, or a name of the calendar, that a packet did not get from the text: it was worked out, perhaps from a value that is
 * another now. `null` where there is none.
 *
 * @param places of the values that are the same, and of those that are filled in
 * @param text the instruction without the values that are others now
 */
export function workedOutIn(packet: Packet, places: readonly Place[], text: string): string | null {
  const numbers = numbersIn(text);
  const small = text.toLowerCase();
  // Nothing is filled into the name of a field.
  for (const { key } of packet.fields) {
    const year = /(?<!\d)(?:19|20)\d\d(?!\d)/.exec(key)?.[0];
    if (year !== undefined && !numbers.has(Number(year))) return year;
  }
  for (const rest of blanked(packet, places)) {
    const name = rest.match(CALENDAR)?.find((word) => !small.includes(word.toLowerCase()));
    if (name !== undefined) return name;
    for (const { 0: number, index } of rest.matchAll(NUMBER)) {
      if (isOfName(rest.slice(0, index), number)) continue;
      const said = /[-:]/.test(number) ? small.includes(number) : numbers.has(Number(number.replaceAll(',', '')));
      if (!said) return number;
    }
  }
  return null;
}

/** Letters before a number that is a part of a year, a length of time or an amount. */
const MEASURE = /^(?:[qhwmdyxt]|fy|cy|pt?|wk|gbp|eur|usd|day|month|year|week|hour|total|net)s?$/i;

/** Whether a number belongs to the name before it: `payroll_v2`, `s7`. */
export function isOfName(before: string, number: string): boolean {
  const letters = /(?<![\p{L}\p{N}])\p{L}+$/u.exec(before)?.[0];
  if (letters === undefined || !/^\d+(?:\.\d+)*$/.test(number)) return false;
  return !/^[A-Z]{3}$/.test(letters) && !MEASURE.test(letters);
}

/** All numbers of a text, with those that "k" or "m" stand for. */
export function numbersIn(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [, digits = '', unit = ''] of text.matchAll(/(\d[\d.,'\u2019]*)\s?([kmb]?)/gi)) {
    const scale = { k: 1e3, m: 1e6, b: 1e9 }[unit.toLowerCase()] ?? 1;
    for (const separators of [/[,'\u2019]|[.,]$/g, /[.'\u2019]|[.,]$/g]) {
      found.add(Number(digits.replace(separators, '').replace(',', '.')) * scale);
    }
  }
  return found;
}
