/** Where a packet shows the values of the instruction that it was written for. */
import type { Packet } from '../ast.js';
import { stylesOf } from './instruction/renderings.js';
import { resolveRelative } from './instruction/resolve.js';
import type { Slot } from './instruction/slots.js';
import type { Style } from './instruction/style.js';

/** A place in the value of a field. */
export interface Place {
  readonly field: number;
  readonly start: number;
  readonly end: number;
  readonly slot: Slot;
  readonly part: 'currency' | null;
  /** The ways to write the value that give what stands here. */
  readonly writings: readonly Writing[];
}

/** A style, after what was said has been looked up in the calendar or not. */
export interface Writing {
  readonly style: Style;
  readonly resolved: boolean;
}

/** Fields that a request fills, and no instruction. */
export const REQUEST_KEYS: ReadonlySet<string> = new Set(['return', 'p', 'aacp']);

/**
 * The places of slots in a packet, longer ones before shorter ones that lie within them.
 *
 * @param said when the instruction was said, in milliseconds since 1970
 */
export function findPlaces(packet: Packet, slots: readonly Slot[], said: number): readonly Place[] {
  const found = unique(slots).flatMap((slot) => placesOf(packet, slot, said));
  found.sort((a, b) => b.end - b.start - (a.end - a.start) || a.field - b.field || a.start - b.start);
  const kept: Place[] = [];
  for (const place of found) if (!kept.some((other) => covers(other, place))) kept.push(place);
  return kept;
}

/** Slots of the same kind and value are found in the same places. */
function unique(slots: readonly Slot[]): readonly Slot[] {
  return slots.filter((slot, index) => slots.findIndex((other) => sameValue(other, slot)) === index);
}

export function sameValue(one: Slot, other: Slot): boolean {
  return one.kind === other.kind && one.value === other.value;
}

/** Whether a place lies within a longer one, or runs into it. Two that are one and the same stay: nobody knows whose it is. */
function covers(longer: Place, place: Place): boolean {
  if (longer.field !== place.field || longer.end <= place.start || place.end <= longer.start) return false;
  return longer.start !== place.start || longer.end !== place.end;
}

function placesOf(packet: Packet, slot: Slot, said: number): readonly Place[] {
  const places = new Map<string, Place & { readonly writings: Writing[] }>();
  const isNumber = slot.digits !== undefined || /^\d+$/.test(slot.value);
  for (const { text, part, writing } of writingsOf(slot, said)) {
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

function writingsOf(
  slot: Slot,
  said: number,
): readonly { readonly text: string; readonly part: 'currency' | null; readonly writing: Writing }[] {
  const resolved = resolveRelative(slot, said);
  const all = [
    ...stylesOf(slot.kind).map((style) => ({ style, resolved: false, text: style.write(slot) })),
    ...(resolved === null ? [] : stylesOf(resolved.kind)).map((style) => ({
      ...{ style, resolved: true },
      text: resolved === null ? null : style.write(resolved),
    })),
  ];
  return all.flatMap(({ style, resolved: looked, text }) =>
    text === null || text === '' ? [] : [{ text, part: style.part ?? null, writing: { style, resolved: looked } }],
  );
}

/** Keys of which the draft says what they hold (section 4.3): what only looks like it stands there by chance. */
function mayStand(key: string, { kind }: Slot, part: 'currency' | null): boolean {
  if (part === 'currency') return key !== 'terms' && key !== 'period';
  if (key === 'ccy') return false;
  if (key === 'amt') return kind === 'amount' || kind === 'number';
  if (key === 'terms') return kind === 'terms' || kind === 'number' || kind === 'quoted';
  return true;
}

/** Where a text stands as a whole: no letter or digit of a longer word beside it; beside a number, no part of a longer number. */
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
  // In 2026-03-13T09:00 the letter parts day and hour.
  const begins = !/[\p{L}\p{N}]$/u.test(before) || !/^[\p{L}\p{N}]/u.test(text) || /\dT$/.test(before);
  const ends = !/^[\p{L}\p{N}]/u.test(behind) || !/[\p{L}\p{N}]$/u.test(text) || /^T\d/.test(behind);
  return begins && ends;
}

function isWholeNumber(before: string, behind: string): boolean {
  return !/(?:\d|\d[.,])$/.test(before) && !/^(?:\d|[.,]\d)/.test(behind);
}

/** Values of so few signs that they stand within other words by chance. */
const BARE: ReadonlySet<Slot['kind']> = new Set(['number', 'percent', 'ordinal', 'terms', 'year', 'amount']);

/**
 * Whether a place stands for its slot: bare numbers do only as a value or an item of its own, but for other places. An item ends at a
 * comma, and begins behind one, or behind a sign of comparison. In `24h` a number stands by chance; in `sales_2026-08` no month does.
 */
export function isOwnPlace(packet: Packet, place: Place, places: readonly Place[]): boolean {
  let value = packet.fields[place.field]!.value;
  if (!BARE.has(place.slot.kind) && !/^\d{1,5}$/.test(value.slice(place.start, place.end))) return true;
  for (const { field, start, end } of places) {
    if (field === place.field) value = `${value.slice(0, start)}${' '.repeat(end - start)}${value.slice(end)}`;
  }
  const before = value
    .slice(0, place.start)
    .split(/[,;=<>:]/)
    .at(-1);
  const behind = value.slice(place.end).split(/[,;=<>:]/, 1)[0];
  return !/[\p{L}\p{N}]/u.test(`${before} ${behind}`);
}
