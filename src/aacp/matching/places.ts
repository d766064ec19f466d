/** Finds the places of a packet that show the values of its instruction. */

import type { Packet } from '../ast.js';
import { resolveRelative } from './instruction/calendar.js';
import { isCompanyForm } from './instruction/names.js';
import { type Style, stylesOf } from './instruction/renderings.js';
import { type Slot, TIME_KINDS } from './instruction/slots.js';

export interface Place {
  readonly field: number;
  readonly start: number;
  readonly end: number;
  readonly slot: Slot;
  readonly part: 'currency' | null;
  /** The ways to write the value that give what stands here. */
  readonly writings: readonly Writing[];
}

/** A style; `resolved` for a relative time that is looked up in the calendar first. */
export interface Writing {
  readonly style: Style;
  readonly resolved: boolean;
}

export const REQUEST_KEYS: ReadonlySet<string> = new Set(['return', 'p', 'aacp']);

/**
 * Finds the places of slots in a packet, without those within longer ones.
 *
 * @param givenAt milliseconds since 1970: the time at which the instruction was given
 */
export function findPlaces(packet: Packet, slots: readonly Slot[], givenAt: number): readonly Place[] {
  const distinct = slots.filter((slot, index) => slots.findIndex((other) => sameValue(other, slot)) === index);
  const found = distinct.flatMap((slot) => placesOf(packet, slot, givenAt));
  found.sort((a, b) => b.end - b.start - (a.end - a.start) || a.field - b.field || a.start - b.start);
  const kept: Place[] = [];
  for (const place of found) if (!kept.some((other) => covers(other, place))) kept.push(place);
  return kept;
}

export function sameValue(one: Slot, other: Slot): boolean {
  return one.kind === other.kind && one.value === other.value;
}

/** Whether a place overlaps a longer one. Two that are the same stay, since either value may be meant. */
function covers(longer: Place, place: Place): boolean {
  if (longer.field !== place.field || longer.end <= place.start || place.end <= longer.start) return false;
  return longer.start !== place.start || longer.end !== place.end;
}

function placesOf(packet: Packet, slot: Slot, givenAt: number): readonly Place[] {
  const places = new Map<string, Place & { readonly writings: Writing[] }>();
  const isNumber = slot.digits !== undefined || /^\d+$/.test(slot.value);
  for (const { text, part, writing } of writingsOf(slot, givenAt)) {
    packet.fields.forEach(({ key, value }, field) => {
      if (REQUEST_KEYS.has(key) || !mayStand(key, slot, part)) return;
      for (const start of occurrences(value, text, isNumber && part === null)) {
        const end = start + text.length;
        const name = `${field} ${start} ${end} ${part}`;
        const place = places.get(name);
        if (place === undefined) places.set(name, { field, start, end, slot, part, writings: [writing] });
        else place.writings.push(writing);
      }
    });
  }
  return [...places.values()];
}

/** The texts that a slot may be written as. */
function writingsOf(slot: Slot, givenAt: number) {
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
      return text === null || text === '' ? [] : [{ text, part: style.part ?? null, writing: { style, resolved } }];
    }),
  );
}

/** Whether a value may stand under a key whose content the draft defines (section 4.3); elsewhere it is there by chance. */
function mayStand(key: string, { kind }: Slot, part: 'currency' | null): boolean {
  if (part === 'currency') return key !== 'terms' && key !== 'period';
  if (key === 'ccy') return false;
  if (key === 'amt') return kind === 'amount' || kind === 'number';
  if (key === 'terms') return kind === 'terms' || kind === 'number' || kind === 'quoted';
  return true;
}

/** Finds a text as a whole: beside it, no letter or digit of a longer word or number. */
function occurrences(value: string, text: string, isNumber: boolean): readonly number[] {
  const found: number[] = [];
  for (let at = value.indexOf(text); at >= 0; at = value.indexOf(text, at + 1)) {
    const before = value.slice(0, at);
    const behind = value.slice(at + text.length);
    if (isNumber ? isWholeNumber(before, behind) : isWholeWord(before, text, behind)) found.push(at);
  }
  return found;
}

function isWholeWord(before: string, text: string, behind: string): boolean {
  // The T of 2026-03-13T09:00 separates day and hour.
  const begins = !/[\p{L}\p{N}]$/u.test(before) || !/^[\p{L}\p{N}]/u.test(text) || /\dT$/.test(before);
  const ends = !/^[\p{L}\p{N}]/u.test(behind) || !/[\p{L}\p{N}]$/u.test(text) || /^T\d/.test(behind);
  return begins && ends;
}

function isWholeNumber(before: string, behind: string): boolean {
  return !/(?:\d|\d[.,])$/.test(before) && !/^(?:\d|[.,]\d)/.test(behind);
}

/** Values so short that they stand within other words by chance. */
const BARE: ReadonlySet<Slot['kind']> = new Set(['number', 'percent', 'ordinal', 'terms', 'year', 'amount']);

/**
 * Whether a place stands for its slot. A bare number has to be a value or an item of its own, apart from other places; items are
 * separated by commas and signs of comparison. The 24 of `24h` is there by chance; the month of `sales_2026-08` is not.
 */
export function isOwnPlace(packet: Packet, place: Place, places: readonly Place[]): boolean {
  const written = packet.fields[place.field]!.value;
  if (!BARE.has(place.slot.kind) && !/^\d{1,5}$/.test(written.slice(place.start, place.end))) return true;
  const others = places.filter(({ field }) => field === place.field);
  const value = blanked(written, others);
  const before = value
    .slice(0, place.start)
    .split(/[,;=<>:]/)
    .at(-1);
  const behind = value.slice(place.end).split(/[,;=<>:]/, 1)[0];
  return !/[\p{L}\p{N}]/u.test(`${before} ${behind}`);
}

const TIME =
  /(?<!\d)(?:19|20)\d\d(?!\d)|(?<!\d)(?:\d{6}|\d{8})(?!\d)|(?<![a-z\d])(?:[qh][1-4]|w\d\d|fy\d\d|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)(?![a-z])|(?<![a-z])(?:january|february|march|april|june|july|august|september|october|november|december)(?![a-z])|(?<!\d)\d{1,2}[-/.]\d{1,2}(?!\d)/;

const AMOUNT = /(?<![\d.])\d{3,}(?:\.\d+)?(?!\d)|\d\.\d/;

/** The texts of a packet's values without the places, in small letters; those of the request left out. */
export function residueOf(packet: Packet, places: readonly Place[]): readonly string[] {
  return restOf(packet, places).map((text) => text.toLowerCase());
}

function restOf({ fields }: Packet, places: readonly Place[]): readonly string[] {
  const placesIn = (index: number): readonly Place[] => places.filter(({ field }) => field === index);
  return fields
    .map(({ key, value }, index) => (REQUEST_KEYS.has(key) ? '' : blanked(value, placesIn(index))))
    .filter((text) => text.trim() !== '');
}

/** Replaces ranges of a text by spaces. */
export function blanked(text: string, ranges: Iterable<Pick<Place, 'start' | 'end'>>): string {
  let rest = text;
  for (const { start, end } of ranges) rest = `${rest.slice(0, start)}${' '.repeat(end - start)}${rest.slice(end)}`;
  return rest;
}

/** Finds a part of the rest of a packet that may come from a value. */
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

/** The parts of a value that others may be made of: `smith` of Jane Smith, `j.smith` of an address, `441` of PO-441. */
function fragmentsOf({ kind, value }: Slot): readonly string[] {
  // The end of an address is no part of a name.
  const told = kind === 'email' ? value.slice(0, value.lastIndexOf('.')) : value;
  const parts = told.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  // Letters of an id name a kind of thing.
  if (kind === 'id') return parts.flatMap((part) => part.match(/\d{2,}|(?<=^\d+)\p{L}{1,3}$/gu) ?? []);
  if (kind === 'url') return parts.filter((part) => part.length > 4);
  const words = parts.filter((part) => part.length > 2 && !isCompanyForm(part));
  return kind === 'name' && parts.length > 1 ? [...words, parts.map(([first = '']) => first).join('')] : words;
}

/** Short fragments may stand within other words by chance. */
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

/** A day, a time of day, or a number with what joins its digits. */
export const NUMBER = /\d{4}-\d\d(?:-\d\d)?(?!\d)|\d+:\d\d(?::\d\d)?|\d+(?:[.,]\d+)*/g;

export const CALENDAR =
  /(?<!\p{L})(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|spring|summer|autumn|fall|winter)(?!\p{L})/giu;

/**
 * Finds a number, or a name of the calendar, that a packet did not get from the text: it may be worked out from a changed value.
 *
 * @param places of the values that stay, and of those that are filled in
 * @param text the instruction without changed values
 */
export function workedOutIn(packet: Packet, places: readonly Place[], text: string): string | null {
  const numbers = numbersIn(text);
  const small = text.toLowerCase();
  // Nothing is filled into the name of a field.
  for (const { key } of packet.fields) {
    const year = /(?<!\d)(?:19|20)\d\d(?!\d)/.exec(key)?.[0];
    if (year !== undefined && !numbers.has(Number(year))) return year;
  }
  for (const rest of restOf(packet, places)) {
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

/** Letters before a number of a year, a length of time or an amount. */
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
