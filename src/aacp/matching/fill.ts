/** Fills the packet of an entry with the values of another instruction. */
import type { Field, Packet } from '../ast.js';
import { resolveRelative } from './instruction/calendar.js';
import { givenDigits } from './instruction/renderings.js';
import { type Slot, TIME_KINDS } from './instruction/slots.js';
import type { Fault, Pair } from './match-pattern.js';
import {
  blanked,
  derivedIn,
  isOwnOccurrence,
  type Occurrence,
  type Rendering,
  residueOf,
  sameValue,
  traceOf,
} from './occurrences.js';

type Filling =
  | { readonly fields: readonly Field[]; readonly filled: Readonly<Record<string, string>>; readonly refusal: null }
  | Fault;

interface Times {
  /** The time at which the instruction was given, in milliseconds since 1970. */
  readonly given: number;
  /** `true` if the relative times of both instructions refer to the same day, month, ... */
  readonly same: boolean;
}

/** Kinds of values that are so short that they may occur in several places by chance. */
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

/** The separator in names by key, as the workflow encoders write them. */
const JOINTS: ReadonlyMap<string, string> = new Map(
  Object.entries({ sup: '-', party: '-', subj: '_', flag_msg: '_', issue: 'small _' }),
);

/**
 * Replaces the stored values in the fields of a packet.
 *
 * @param findOccurrences returns the occurrences of the stored values; called only if values differ
 * @param instruction the instruction for which the packet was made
 */
export function fillPacket(
  packet: Packet,
  pairs: readonly Pair[],
  findOccurrences: () => readonly Occurrence[],
  times: Times,
  instruction: string,
): Filling {
  const changed = pairs.filter((pair) => isChanged(pair, times));
  const names = Object.fromEntries(pairs.map(({ stored, given }, index) => [nameOf(stored, pairs, index), given.text]));
  if (changed.length === 0) return { fields: packet.fields, filled: names, refusal: null };
  const found = findOccurrences();
  const isOther = (slot: Slot): boolean => changed.some(({ stored }) => sameValue(stored, slot));
  const occurrences = found.filter(
    (occurrence) => !isOther(occurrence.slot) || isOwnOccurrence(packet, occurrence, found),
  );
  const edits: Edit[] = [];
  for (const pair of changed) {
    const own = editsOf(packet, pair, pairs, occurrences, times);
    if (own.refusal !== null) return own;
    edits.push(...own.edits);
  }
  const rest = residueOf(packet, occurrences);
  for (const { stored } of changed) {
    const trace = traceOf(stored, rest);
    if (trace !== null) {
      const reason = `the packet contains "${trace}", which may have been derived from "${stored.text}"`;
      return { refusal: 'slot-unplaced', reason };
    }
  }
  const kept = occurrences.filter(
    ({ slot, part }) => !isOther(slot) || (part === null && hasSameDigits(slot, changed)),
  );
  const text = unchangedText(instruction, pairs, changed);
  const stale = derivedIn(packet, [...kept, ...edits.map(({ occurrence }) => occurrence)], text);
  if (stale !== null) {
    const reason = `the packet contains "${stale}", which may have been derived from a value that changed`;
    return { refusal: 'slot-unplaced', reason };
  }
  return { fields: applied(packet.fields, edits), filled: names, refusal: null };
}

function hasSameDigits(slot: Slot, changed: readonly Pair[]): boolean {
  if (slot.kind !== 'amount' || slot.digits === undefined) return false;
  return changed.every(({ stored, given }) => !sameValue(stored, slot) || stored.digits === given.digits);
}

/** Blanks changed values, and if one is a time, all times: another time may contain the same number. */
function unchangedText(instruction: string, pairs: readonly Pair[], changed: readonly Pair[]): string {
  const isTimed = changed.some(({ stored }) => TIME_KINDS.has(stored.kind));
  const others = pairs.filter((pair) => changed.includes(pair) || (isTimed && TIME_KINDS.has(pair.stored.kind)));
  return blanked(
    instruction,
    others.map(({ stored }) => stored),
  );
}

interface Edit {
  readonly occurrence: Occurrence;
  readonly text: string;
}

function isChanged({ stored, given }: Pair, { same }: Times): boolean {
  return !sameValue(stored, given) || (stored.relative && !same);
}

function editsOf(
  packet: Packet,
  pair: Pair,
  pairs: readonly Pair[],
  occurrences: readonly Occurrence[],
  times: Times,
): { readonly edits: readonly Edit[]; readonly refusal: null } | Fault {
  const { stored, given } = pair;
  const own = occurrences.filter((occurrence) => sameValue(occurrence.slot, stored));
  const parts = neededParts(pair);
  if (parts.length === 0 || (sameValue(stored, given) && own.length === 0)) {
    // The packet does not contain the time. That it contains none at all is checked later.
    return { edits: [], refusal: null };
  }
  for (const part of parts) {
    if (own.some((occurrence) => occurrence.part === part)) continue;
    const what = part === 'currency' ? `the currency of "${stored.text}"` : `"${stored.text}"`;
    return {
      refusal: 'slot-unplaced',
      reason: `the instruction has "${given.text}", and the packet does not contain ${what}`,
    };
  }
  const needed = own.filter((occurrence) => parts.includes(occurrence.part));
  const shared = sharers(pair, pairs, occurrences, needed);
  if (shared !== null) return { refusal: 'slot-ambiguous', reason: shared };
  const figures = needed.filter(({ part }) => part === null).length;
  if (figures > 1 && (SHORT.has(stored.kind) || (stored.kind === 'id' && stored.value.length < 3))) {
    return { refusal: 'slot-ambiguous', reason: `the packet contains "${stored.text}" more than once` };
  }
  const edits: Edit[] = [];
  for (const occurrence of needed) {
    const text = inSameStyle(occurrence, pair, packet.fields[occurrence.field]!.key, times);
    if (text === null) {
      return { refusal: 'slot-ambiguous', reason: `it is unclear how the packet would write "${given.text}"` };
    }
    edits.push({ occurrence, text });
  }
  return { edits, refusal: null };
}

/** Returns the parts of a value that must occur in the packet. The digits and the currency of an amount are separate parts. */
function neededParts({ stored, given }: Pair): readonly ('currency' | null)[] {
  if (stored.kind !== 'amount') return [null];
  if (stored.digits === undefined || given.digits === undefined) return [null];
  const parts: ('currency' | null)[] = [];
  if (stored.digits !== given.digits) parts.push(null);
  if (stored.currency !== given.currency) parts.push('currency');
  return parts;
}

/** Finds another value that is written in the same way and changes differently. */
function sharers(
  { stored, given }: Pair,
  pairs: readonly Pair[],
  occurrences: readonly Occurrence[],
  needed: readonly Occurrence[],
): string | null {
  const rival = pairs.find((other) => sameValue(other.stored, stored) && !sameValue(other.given, given));
  if (rival !== undefined) return `"${stored.text}" stands for "${given.text}" and for "${rival.given.text}"`;
  const clash = occurrences.find(
    (other) =>
      !sameValue(other.slot, stored) &&
      needed.some(({ field, start, end }) => field === other.field && start === other.start && end === other.end),
  );
  return clash === undefined
    ? null
    : `the packet may contain "${stored.text}" or "${clash.slot.text}" in the same place`;
}

/** Writes the new value in the style of the old one. Returns `null` if the style is ambiguous. */
function inSameStyle({ renderings }: Occurrence, { given }: Pair, key: string, { given: now }: Times): string | null {
  const texts = new Map<string, Rendering>();
  for (const rendering of renderings) {
    const slot = rendering.resolved ? resolveRelative(given, now) : given;
    const text =
      slot === null ? null : rendering.style.name === 'digits' ? givenDigits(slot) : rendering.style.write(slot);
    if (text !== null && text !== '' && !texts.has(text)) texts.set(text, rendering);
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

/** Returns the styles to prefer if several produce the old text. */
function preferred(kind: Slot['kind']): readonly string[] {
  if (kind === 'id') return ['id'];
  if (kind === 'email' || kind === 'agent' || kind === 'handle') return ['own'];
  // Integers look the same with and without decimal places.
  return TIME_KINDS.has(kind) ? [] : ['digits'];
}

function applied(fields: readonly Field[], edits: readonly Edit[]): readonly Field[] {
  return fields.map((field, index) => {
    const own = edits
      .filter(({ occurrence }) => occurrence.field === index)
      .sort((a, b) => b.occurrence.start - a.occurrence.start);
    const value = own.reduce(
      (text, { occurrence, text: replacement }) =>
        `${text.slice(0, occurrence.start)}${replacement}${text.slice(occurrence.end)}`,
      field.value,
    );
    return value === field.value ? field : { key: field.key, value };
  });
}

/** Returns the name of a slot: `period`, or `period 2` if there are several of a kind. */
function nameOf({ kind }: Slot, pairs: readonly Pair[], index: number): string {
  const number = pairs.slice(0, index).filter(({ stored }) => stored.kind === kind).length;
  return number === 0 ? kind : `${kind} ${number + 1}`;
}
