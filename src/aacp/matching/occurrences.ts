/** Finds the occurrences of an instruction's values in a packet. */

import type { Packet } from '../ast.js';
import { resolveRelative } from './instruction/calendar.js';
import { isCompanyForm } from './instruction/names.js';
import { type Style, stylesOf } from './instruction/renderings.js';
import { type Slot, TIME_KINDS } from './instruction/slots.js';

export interface Occurrence {
  readonly field: number;
  readonly start: number;
  readonly end: number;
  readonly slot: Slot;
  readonly part: 'currency' | null;
  /** The renderings of the value that produce this text. */
  readonly renderings: readonly Rendering[];
}

/** A style of writing a value. `resolved` is `true` if a relative time is first looked up in the calendar. */
export interface Rendering {
  readonly style: Style;
  readonly resolved: boolean;
}

export const REQUEST_KEYS: ReadonlySet<string> = new Set(['return', 'p', 'aacp']);

/**
 * Finds the occurrences of slots in a packet, except those within longer ones.
 *
 * @param givenAt the time at which the instruction was given, in milliseconds since 1970
 */
export function findOccurrences(packet: Packet, slots: readonly Slot[], givenAt: number): readonly Occurrence[] {
  const distinct = slots.filter((slot, index) => slots.findIndex((other) => sameValue(other, slot)) === index);
  const found = distinct.flatMap((slot) => occurrencesOf(packet, slot, givenAt));
  found.sort((a, b) => b.end - b.start - (a.end - a.start) || a.field - b.field || a.start - b.start);
  const kept: Occurrence[] = [];
  for (const occurrence of found) if (!kept.some((other) => covers(other, occurrence))) kept.push(occurrence);
  return kept;
}

export function sameValue(one: Slot, other: Slot): boolean {
  return one.kind === other.kind && one.value === other.value;
}

/** Returns whether an occurrence overlaps a longer one. Two equal ones are kept, since either value may be meant. */
function covers(longer: Occurrence, occurrence: Occurrence): boolean {
  if (longer.field !== occurrence.field || longer.end <= occurrence.start || occurrence.end <= longer.start)
    return false;
  return longer.start !== occurrence.start || longer.end !== occurrence.end;
}

function occurrencesOf(packet: Packet, slot: Slot, givenAt: number): readonly Occurrence[] {
  const occurrences = new Map<string, Occurrence & { readonly renderings: Rendering[] }>();
  const isNumber = slot.digits !== undefined || /^\d+$/.test(slot.value);
  for (const { text, part, rendering } of renderingsOf(slot, givenAt)) {
    packet.fields.forEach(({ key, value }, field) => {
      if (REQUEST_KEYS.has(key) || !mayOccur(key, slot, part)) return;
      for (const start of offsetsOf(value, text, isNumber && part === null)) {
        const end = start + text.length;
        const name = `${field} ${start} ${end} ${part}`;
        const occurrence = occurrences.get(name);
        if (occurrence === undefined) occurrences.set(name, { field, start, end, slot, part, renderings: [rendering] });
        else occurrence.renderings.push(rendering);
      }
    });
  }
  return [...occurrences.values()];
}

/** Returns the texts that a slot may be written as. */
function renderingsOf(slot: Slot, givenAt: number) {
  const later = resolveRelative(slot, givenAt);
  const variants =
    later === null
      ? [{ slot, resolved: false }]
      : [
          { slot, resolved: false },
          { slot: later, resolved: true },
        ];
  return variants.flatMap(({ slot: variant, resolved }) =>
    stylesOf(variant.kind).flatMap((style) => {
      const text = style.write(variant);
      return text === null || text === '' ? [] : [{ text, part: style.part ?? null, rendering: { style, resolved } }];
    }),
  );
}

/** Returns whether a value may occur under a key whose content the draft defines (section 4.3). Elsewhere it occurs by chance. */
function mayOccur(key: string, { kind }: Slot, part: 'currency' | null): boolean {
  if (part === 'currency') return key !== 'terms' && key !== 'period';
  if (key === 'ccy') return false;
  if (key === 'amt') return kind === 'amount' || kind === 'number';
  if (key === 'terms') return kind === 'terms' || kind === 'number' || kind === 'quoted';
  return true;
}

/** Returns the offsets of a text that is not part of a longer word or number. */
function offsetsOf(value: string, text: string, isNumber: boolean): readonly number[] {
  const found: number[] = [];
  for (let at = value.indexOf(text); at >= 0; at = value.indexOf(text, at + 1)) {
    const before = value.slice(0, at);
    const behind = value.slice(at + text.length);
    if (isNumber ? isWholeNumber(before, behind) : isWholeWord(before, text, behind)) found.push(at);
  }
  return found;
}

function isWholeWord(before: string, text: string, behind: string): boolean {
  // In 2026-03-13T09:00, the T separates the day and the hour.
  const begins = !/[\p{L}\p{N}]$/u.test(before) || !/^[\p{L}\p{N}]/u.test(text) || /\dT$/.test(before);
  const ends = !/^[\p{L}\p{N}]/u.test(behind) || !/[\p{L}\p{N}]$/u.test(text) || /^T\d/.test(behind);
  return begins && ends;
}

function isWholeNumber(before: string, behind: string): boolean {
  return !/(?:\d|\d[.,])$/.test(before) && !/^(?:\d|[.,]\d)/.test(behind);
}

/** Kinds of values that are so short that they occur within other words by chance. */
const BARE: ReadonlySet<Slot['kind']> = new Set(['number', 'percent', 'ordinal', 'terms', 'year', 'amount']);

/**
 * Returns whether an occurrence represents its slot. A bare number must be a value or an item of its own, apart from other occurrences;
 * items are separated by commas and comparison operators. The 24 of `24h` occurs by chance; the month of `sales_2026-08` does not.
 */
export function isOwnOccurrence(packet: Packet, occurrence: Occurrence, occurrences: readonly Occurrence[]): boolean {
  const written = packet.fields[occurrence.field]!.value;
  if (!BARE.has(occurrence.slot.kind) && !/^\d{1,5}$/.test(written.slice(occurrence.start, occurrence.end)))
    return true;
  const others = occurrences.filter(({ field }) => field === occurrence.field);
  const value = blanked(written, others);
  const before = value
    .slice(0, occurrence.start)
    .split(/[,;=<>:]/)
    .at(-1);
  const behind = value.slice(occurrence.end).split(/[,;=<>:]/, 1)[0];
  return !/[\p{L}\p{N}]/u.test(`${before} ${behind}`);
}

const TIME =
  /(?<!\d)(?:19|20)\d\d(?!\d)|(?<!\d)(?:\d{6}|\d{8})(?!\d)|(?<![a-z\d])(?:[qh][1-4]|w\d\d|fy\d\d|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)(?![a-z])|(?<![a-z])(?:january|february|march|april|june|july|august|september|october|november|december)(?![a-z])|(?<!\d)\d{1,2}[-/.]\d{1,2}(?!\d)/;

const AMOUNT = /(?<![\d.])\d{3,}(?:\.\d+)?(?!\d)|\d\.\d/;

/** Returns the values of a packet without the occurrences, in lower case, except the fields that the request determines. */
export function residueOf(packet: Packet, occurrences: readonly Occurrence[]): readonly string[] {
  return restOf(packet, occurrences).map((text) => text.toLowerCase());
}

function restOf({ fields }: Packet, occurrences: readonly Occurrence[]): readonly string[] {
  const occurrencesIn = (index: number): readonly Occurrence[] => occurrences.filter(({ field }) => field === index);
  return fields
    .map(({ key, value }, index) => (REQUEST_KEYS.has(key) ? '' : blanked(value, occurrencesIn(index))))
    .filter((text) => text.trim() !== '');
}

/** Replaces ranges of a text by spaces. */
export function blanked(text: string, ranges: Iterable<Pick<Occurrence, 'start' | 'end'>>): string {
  let rest = text;
  for (const { start, end } of ranges) rest = `${rest.slice(0, start)}${' '.repeat(end - start)}${rest.slice(end)}`;
  return rest;
}

/** Finds a part of the rest of a packet that may be derived from a value. */
export function traceOf(slot: Slot, rest: readonly string[]): string | null {
  return rest.map((text) => traceIn(slot, text)).find((trace) => trace !== null) ?? null;
}

export function timeIn(rest: readonly string[]): string | null {
  return rest.map((text) => TIME.exec(text)?.[0]).find((found) => found !== undefined) ?? null;
}

function traceIn(slot: Slot, text: string): string | null {
  if (TIME_KINDS.has(slot.kind)) return timeIn([text]);
  if (slot.kind === 'amount') return AMOUNT.exec(text)?.[0] ?? null;
  if (slot.digits !== undefined) return isWholeIn(text, slot.digits) ? slot.digits : null;
  return fragmentsOf(slot).find((fragment) => holds(text, fragment)) ?? null;
}

/** Returns the parts of a value from which others may be formed: `smith` of Jane Smith, `j.smith` of an address, `441` of PO-441. */
function fragmentsOf({ kind, value }: Slot): readonly string[] {
  // The top-level domain of an address is not part of a name.
  const text = kind === 'email' ? value.slice(0, value.lastIndexOf('.')) : value;
  const parts = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  // Letters of an id name a kind of thing.
  if (kind === 'id') return parts.flatMap((part) => part.match(/\d{2,}|(?<=^\d+)\p{L}{1,3}$/gu) ?? []);
  if (kind === 'url') return parts.filter((part) => part.length > 4);
  const words = parts.filter((part) => part.length > 2 && !isCompanyForm(part));
  return kind === 'name' && parts.length > 1 ? [...words, parts.map(([first = '']) => first).join('')] : words;
}

/** Returns whether a text contains a fragment. Short ones may occur within other words by chance. */
function holds(text: string, fragment: string): boolean {
  for (let at = text.indexOf(fragment); at >= 0; at = text.indexOf(fragment, at + 1)) {
    const around = `${text[at - 1] ?? ''}${text[at + fragment.length] ?? ''}`;
    if (fragment.length > 3 || !/\p{L}/u.test(around)) return true;
  }
  return false;
}

function isWholeIn(text: string, digits: string): boolean {
  const at = text.indexOf(digits);
  return at >= 0 && !/\d/.test(`${text[at - 1] ?? ''}${text[at + digits.length] ?? ''}`);
}

/** A day, a time of day, or a number with the marks between its digits. */
export const NUMBER = /\d{4}-\d\d(?:-\d\d)?(?!\d)|\d+:\d\d(?::\d\d)?|\d+(?:[.,]\d+)*/g;

export const CALENDAR =
  /(?<!\p{L})(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|spring|summer|autumn|fall|winter)(?!\p{L})/giu;

/**
 * Finds a number, or a name of the calendar, that a packet did not take from the instruction: it may be derived from a changed value.
 *
 * @param occurrences the occurrences of the values that stay, and of those that are filled in
 * @param text the instruction without changed values
 */
export function derivedIn(packet: Packet, occurrences: readonly Occurrence[], text: string): string | null {
  const numbers = numbersIn(text);
  const small = text.toLowerCase();
  // Names of fields do not change.
  for (const { key } of packet.fields) {
    const year = /(?<!\d)(?:19|20)\d\d(?!\d)/.exec(key)?.[0];
    if (year !== undefined && !numbers.has(Number(year))) return year;
  }
  for (const rest of restOf(packet, occurrences)) {
    const name = rest.match(CALENDAR)?.find((word) => !small.includes(word.toLowerCase()));
    if (name !== undefined) return name;
    for (const { 0: number, index } of rest.matchAll(NUMBER)) {
      if (isOfName(rest.slice(0, index), number)) continue;
      const isStated = /[-:]/.test(number) ? small.includes(number) : numbers.has(Number(number.replaceAll(',', '')));
      if (!isStated) return number;
    }
  }
  return null;
}

/** Letters before the number of a year, a duration or an amount. */
const MEASURE = /^(?:[qhwmdyxt]|fy|cy|pt?|wk|gbp|eur|usd|day|month|year|week|hour|total|net)s?$/i;

/** Returns whether a number belongs to the name before it: `payroll_v2`, `s7`. */
export function isOfName(before: string, number: string): boolean {
  const letters = /(?<![\p{L}\p{N}])\p{L}+$/u.exec(before)?.[0];
  if (letters === undefined || !/^\d+(?:\.\d+)*$/.test(number)) return false;
  return !/^[A-Z]{3}$/.test(letters) && !MEASURE.test(letters);
}

/** Returns all numbers of a text, including those with "k" or "m". */
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
