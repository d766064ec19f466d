/** A stored packet with the values of another instruction. */
import type { Field, Packet } from '../ast.js';
import { resolveRelative } from './instruction/calendar.js';
import { givenDigits } from './instruction/renderings.js';
import { type Slot, TIME_KINDS } from './instruction/slots.js';
import type { Fault, Pair } from './judge.js';
import { blanked, isOwnPlace, type Place, residueOf, sameValue, traceOf, type Writing, workedOutIn } from './places.js';

type Filling =
  | { readonly fields: readonly Field[]; readonly filled: Readonly<Record<string, string>>; readonly refusal: null }
  | Fault;

interface Times {
  /** When the instruction was given, in milliseconds since 1970. */
  readonly given: number;
  /** Whether the relative times of both refer to the same day, month, ... */
  readonly same: boolean;
}

/** Values that are so short that they may stand in several places by chance. */
const SHORT: ReadonlySet<Slot['kind']> = new Set<Slot['kind']>([
  'number',
  'amount',
  'percent',
  'ordinal',
  'terms',
  'year',
  'time',
  'code',
]);

/** The style of names by key, as the workflow encoders write them. */
const JOINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({ sup: '-', party: '-', subj: '_', flag_msg: '_', issue: 'small _' }),
);

/**
 * Replaces the stored values in the fields of a packet.
 *
 * @param findPlaces returns the places of the stored values; called only if values differ
 * @param instruction the one that the packet was made for
 */
export function fillPacket(
  packet: Packet,
  pairs: readonly Pair[],
  findPlaces: () => readonly Place[],
  times: Times,
  instruction: string,
): Filling {
  const changed = pairs.filter((pair) => isChanged(pair, times));
  const names = Object.fromEntries(pairs.map(({ stored, given }, index) => [nameOf(stored, pairs, index), given.text]));
  if (changed.length === 0) return { fields: packet.fields, filled: names, refusal: null };
  const found = findPlaces();
  const isOther = (slot: Slot): boolean => changed.some(({ stored }) => sameValue(stored, slot));
  const places = found.filter((place) => !isOther(place.slot) || isOwnPlace(packet, place, found));
  const edits: Edit[] = [];
  for (const pair of changed) {
    const own = editsOf(packet, pair, pairs, places, times);
    if (own.refusal !== null) return own;
    edits.push(...own.edits);
  }
  const rest = residueOf(packet, places);
  for (const { stored } of changed) {
    const trace = traceOf(stored, rest);
    if (trace !== null) {
      const reason = `the packet has "${trace}", which may have been worked out from "${stored.text}"`;
      return { refusal: 'slot-unplaced', reason };
    }
  }
  const kept = places.filter(({ slot, part }) => !isOther(slot) || (part === null && hasSameDigits(slot, changed)));
  const text = unchangedText(instruction, pairs, changed);
  const stale = workedOutIn(packet, [...kept, ...edits.map(({ place }) => place)], text);
  if (stale !== null) {
    const reason = `the packet has "${stale}", which may have been worked out from what is another now`;
    return { refusal: 'slot-unplaced', reason };
  }
  return { fields: applied(packet.fields, edits), filled: names, refusal: null };
}

function hasSameDigits(slot: Slot, changed: readonly Pair[]): boolean {
  if (slot.kind !== 'amount' || slot.digits === undefined) return false;
  return changed.every(({ stored, given }) => !sameValue(stored, slot) || stored.digits === given.digits);
}

/** Blanks changed values; and if one is a time, all times: a day may have the number of another. */
function unchangedText(instruction: string, pairs: readonly Pair[], changed: readonly Pair[]): string {
  const isTimed = changed.some(({ stored }) => TIME_KINDS.has(stored.kind));
  const others = pairs.filter((pair) => changed.includes(pair) || (isTimed && TIME_KINDS.has(pair.stored.kind)));
  return blanked(
    instruction,
    others.map(({ stored }) => stored),
  );
}

interface Edit {
  readonly place: Place;
  readonly text: string;
}

function isChanged({ stored, given }: Pair, { same }: Times): boolean {
  return !sameValue(stored, given) || (stored.relative && !same);
}

function editsOf(
  packet: Packet,
  pair: Pair,
  pairs: readonly Pair[],
  places: readonly Place[],
  times: Times,
): { readonly edits: readonly Edit[]; readonly refusal: null } | Fault {
  const { stored, given } = pair;
  const own = places.filter((place) => sameValue(place.slot, stored));
  const parts = neededParts(pair);
  if (parts.length === 0 || (sameValue(stored, given) && own.length === 0)) {
    // The packet does not show the time; that it holds none at all is checked later.
    return { edits: [], refusal: null };
  }
  for (const part of parts) {
    if (own.some((place) => place.part === part)) continue;
    const what = part === 'currency' ? `the currency of "${stored.text}"` : `"${stored.text}"`;
    return { refusal: 'slot-unplaced', reason: `it says "${given.text}", and the packet does not show ${what}` };
  }
  const wanted = own.filter((place) => parts.includes(place.part));
  const shared = sharers(pair, pairs, places, wanted);
  if (shared !== null) return { refusal: 'slot-ambiguous', reason: shared };
  const figures = wanted.filter(({ part }) => part === null).length;
  if (figures > 1 && (SHORT.has(stored.kind) || (stored.kind === 'id' && stored.value.length < 3))) {
    return { refusal: 'slot-ambiguous', reason: `"${stored.text}" stands in the packet more than once` };
  }
  const edits: Edit[] = [];
  for (const place of wanted) {
    const text = writtenAnew(place, pair, packet.fields[place.field]!.key, times);
    if (text === null) {
      return { refusal: 'slot-ambiguous', reason: `how the packet would write "${given.text}" cannot be told` };
    }
    edits.push({ place, text });
  }
  return { edits, refusal: null };
}

/** Digits and currency of an amount stand apart; an unchanged one needs no place. */
function neededParts({ stored, given }: Pair): readonly ('currency' | null)[] {
  if (stored.kind !== 'amount') return [null];
  if (stored.digits === undefined || given.digits === undefined) return [null];
  const parts: ('currency' | null)[] = [];
  if (stored.digits !== given.digits) parts.push(null);
  if (stored.currency !== given.currency) parts.push('currency');
  return parts;
}

/** Reports another value that is written the same, and changes otherwise. */
function sharers(
  { stored, given }: Pair,
  pairs: readonly Pair[],
  places: readonly Place[],
  wanted: readonly Place[],
): string | null {
  const rival = pairs.find((other) => sameValue(other.stored, stored) && !sameValue(other.given, given));
  if (rival !== undefined) return `"${stored.text}" stands for "${given.text}" and for "${rival.given.text}"`;
  const clash = places.find(
    (other) =>
      !sameValue(other.slot, stored) &&
      wanted.some(({ field, start, end }) => field === other.field && start === other.start && end === other.end),
  );
  return clash === undefined ? null : `the packet may show "${stored.text}" or "${clash.slot.text}" in the same place`;
}

/** Writes the new value as the old one; `null` if the old one can be read as written in several ways. */
function writtenAnew({ writings }: Place, { given }: Pair, key: string, { given: now }: Times): string | null {
  const texts = new Map<string, Writing>();
  for (const writing of writings) {
    const slot = writing.resolved ? resolveRelative(given, now) : given;
    const text = slot === null ? null : writing.style.name === 'digits' ? givenDigits(slot) : writing.style.write(slot);
    if (text !== null && text !== '' && !texts.has(text)) texts.set(text, writing);
  }
  const [only] = texts.keys();
  if (texts.size < 2) return only ?? null;
  const joint = JOINTS.get(key);
  for (const name of [joint, ...preferred(given.kind)]) {
    for (const [text, { style }] of texts) if (style.name === name) return text;
  }
  const others = [...texts].filter(([, { style }]) => style.name !== 'own');
  return others.length === 1 ? others[0]![0] : null;
}

/** The styles to prefer if several write the old value in the same way. */
function preferred(kind: Slot['kind']): readonly string[] {
  if (kind === 'id') return ['id'];
  if (kind === 'email' || kind === 'agent' || kind === 'handle') return ['own'];
  // Whole numbers are written the same with and without places.
  return TIME_KINDS.has(kind) ? [] : ['digits'];
}

function applied(fields: readonly Field[], edits: readonly Edit[]): readonly Field[] {
  return fields.map((field, index) => {
    const own = edits.filter(({ place }) => place.field === index).sort((a, b) => b.place.start - a.place.start);
    const value = own.reduce(
      (text, { place, text: anew }) => `${text.slice(0, place.start)}${anew}${text.slice(place.end)}`,
      field.value,
    );
    return value === field.value ? field : { key: field.key, value };
  });
}

/** `period`, or `period 2` where there are several of a kind. */
function nameOf({ kind }: Slot, pairs: readonly Pair[], index: number): string {
  const number = pairs.slice(0, index).filter(({ stored }) => stored.kind === kind).length;
  return number === 0 ? kind : `${kind} ${number + 1}`;
}
