/** Which value of an instruction takes the place of which value of a pattern. */

import type { Analysis, SlotUse } from './analysis.js';
import { type Slot, type SlotKind, TIME_KINDS } from './instruction/slots.js';
import type { Refusal } from './match.js';

export interface Pair {
  readonly stored: Slot;
  readonly given: Slot;
}

export type Pairing =
  | { readonly pairs: readonly Pair[]; readonly refusal: null }
  | { readonly refusal: Refusal; readonly reason: string };

interface Sides {
  readonly pattern: Analysis;
  readonly instruction: Analysis;
  readonly anyId: boolean;
}

/** What the prefixes of ids stand for. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['PO', 'purchase-order'],
  ['INV', 'invoice'],
]);

/**
 * The values of both, one to one.
 *
 * @param anyId the ids of the pattern are samples, whose letters do not count
 */
export function pairSlots(pattern: Analysis, instruction: Analysis, anyId: boolean): Pairing {
  const kinds = new Set([...pattern.slots, ...instruction.slots].map(({ slot }) => slot.kind));
  const pairs: Pair[] = [];
  for (const kind of kinds) {
    const stored = pattern.slots.filter(({ slot }) => slot.kind === kind);
    const given = instruction.slots.filter(({ slot }) => slot.kind === kind);
    const found = pairKind(kind, stored, given, { pattern, instruction, anyId });
    if (found.refusal !== null) return found;
    pairs.push(...found.pairs);
  }
  return { pairs, refusal: null };
}

function pairKind(
  kind: SlotKind,
  stored: readonly SlotUse[],
  given: readonly SlotUse[],
  { pattern, instruction, anyId }: Sides,
): Pairing {
  if (stored.length !== given.length) return otherKind(kind, stored, given);
  const uses = aligned(stored, given, anyId);
  if (uses === null) {
    return { refusal: 'slot-ambiguous', reason: `which ${spoken(kind)} takes which place cannot be told` };
  }
  for (const [one, other] of uses) {
    const prefixes = kind === 'id' && !anyId && otherPrefix(one, other);
    if (prefixes)
      return { refusal: 'slot-kind', reason: `"${one.slot.text}" and "${other.slot.text}" name different things` };
    // A year is no number of things, and a number behind a thing is its name.
    if (one.use !== other.use)
      return { refusal: 'slot-kind', reason: `"${one.slot.text}" and "${other.slot.text}" are used in different ways` };
    const isShared = uses.length === 1 && pattern.shares && instruction.shares && one.slot.value === other.slot.value;
    if (!(isShared || sameAction(one, other, pattern, instruction)) || !compatible(one, other, pattern, instruction)) {
      return { refusal: 'order', reason: `"${other.slot.text}" does not stand where "${one.slot.text}" stands` };
    }
  }
  return { pairs: uses.map(([one, other]) => ({ stored: one.slot, given: other.slot })), refusal: null };
}

/** A sentence that asks for nothing says what it says of all the others. */
function sameAction(one: SlotUse, other: SlotUse, pattern: Analysis, instruction: Analysis): boolean {
  const here = pattern.actions[one.action];
  const there = instruction.actions[other.action];
  return here === there || here === undefined || there === undefined;
}

function otherKind(kind: SlotKind, stored: readonly SlotUse[], given: readonly SlotUse[]): Pairing {
  const more = stored.length > given.length ? 'pattern' : 'instruction';
  const [first] = more === 'pattern' ? stored : given;
  const reason = `the ${more} has ${spoken(kind)} ("${first?.slot.text}") where the other has none`;
  return { refusal: 'slot-kind', reason };
}

/** The values one to one; `null` where that can be done in several ways. */
function aligned(
  stored: readonly SlotUse[],
  given: readonly SlotUse[],
  anyId: boolean,
): readonly (readonly [SlotUse, SlotUse])[] | null {
  const placeOf = (use: SlotUse): string => placeIn(use, anyId);
  const inOrder = stored.map((one, index) => [one, given[index]!] as const);
  if (stored.length < 2) return inOrder;
  const values = (uses: readonly SlotUse[]): string =>
    uses
      .map(({ slot }) => slot.value)
      .sort()
      .join('\n');
  const here = stored.map(placeOf);
  const there = given.map(placeOf);
  const isInPlace = here.every((place, index) => place === there[index]);
  // A value may stand twice.
  if (isInPlace && inOrder.every(([one, other]) => one.slot.value === other.slot.value)) return inOrder;
  const isList = [...stored, ...given].every((use) => use.listed);
  if (isList && values(stored) === values(given)) {
    return stored.map((use) => [use, given.find(({ slot }) => slot.value === use.slot.value)!]);
  }
  if (isInPlace) return inOrder;
  // The very same values in the same order, each on its side: nothing takes the place of anything.
  const isSame = inOrder.every(([one, other]) => one.slot.value === other.slot.value && one.role === other.role);
  if (isSame && inOrder.every(([one, other]) => one.side === other.side)) return inOrder;
  if (new Set(here).size < here.length || new Set(there).size < there.length) return null;
  const byPlace = new Map(given.map((use) => [placeOf(use), use]));
  const found = stored.map((use) => [use, byPlace.get(placeOf(use))] as const);
  return found.every((pair): pair is readonly [SlotUse, SlotUse] => pair[1] !== undefined) ? found : null;
}

/** What tells two values of a kind apart: letters of an id, else relation and neighbour. */
function placeIn({ slot, role, side, context, action }: SlotUse, anyId: boolean): string {
  const prefix = slot.kind === 'id' && !anyId ? (/^#?([A-Za-z]+)/.exec(slot.text)?.[1] ?? '') : '';
  return prefix === '' ? `${action} ${role} ${side} ${context}` : prefix;
}

function otherPrefix(one: SlotUse, other: SlotUse): boolean {
  const here = prefixOf(one.slot);
  const there = prefixOf(other.slot);
  if (here !== '' && there !== '' && here !== there) return true;
  const thing = one.noun ?? PREFIXES.get(here);
  const otherThing = other.noun ?? PREFIXES.get(there);
  if (thing !== undefined && otherThing !== undefined) return !sameThing(thing, otherThing);
  // One is told by a word, the other by nothing: they are the same only with the same letters.
  return (thing !== undefined || otherThing !== undefined) && (here === '' || there === '');
}

/** "order PO-441" is a purchase order; "number 17" is a number of anything. */
function sameThing(one: string, other: string): boolean {
  return (
    one === other ||
    [one, other].some((noun) => VAGUE.has(noun)) ||
    `purchase-${one}` === other ||
    `purchase-${other}` === one
  );
}

const VAGUE: ReadonlySet<string> = new Set(['id', 'number', 'no']);

/** Names in small letters, of hosts and versions, have parts and no prefix. */
function prefixOf({ text }: Slot): string {
  return /^#?([A-Z]+)/.exec(text)?.[1] ?? '';
}

/** Relations that may be left out before what has a name of its own: "the invoice from Acme", "the Acme invoice". */
const SOFT: ReadonlySet<string> = new Set(['from', 'by', 'against']);

/** Whether two values stand in the same relation, or in relations that can be left out. */
function compatible(one: SlotUse, other: SlotUse, pattern: Analysis, instruction: Analysis): boolean {
  if (one.role === other.role) return true;
  if (isPayee(pattern) && isPayee(instruction) && [one, other].every(isPaid)) return true;
  if (one.documentary || other.documentary) {
    return [one, other].every(({ role, documentary, side }) =>
      role === 'from' ? documentary : role === '' && side === '',
    );
  }
  const { kind } = one.slot;
  if (TIME_KINDS.has(kind) || COUNTS.has(kind)) return false;
  const roles = [one.role, other.role];
  // "e-mail a@b.com the report" is "e-mail the report to a@b.com".
  if (roles.includes('to')) return ADDRESSES.has(kind) && roles.includes('');
  // Where something goes somewhere, it matters from where.
  const directed = [pattern, instruction].some(({ contents, slots }) =>
    [...contents, ...slots].some(({ role }) => role === 'to'),
  );
  return (
    roles.every((role) => role === '' || SOFT.has(role)) && roles.includes('') && !(directed && roles.includes('from'))
  );
}

/** Who is paid, and who has sent the bill, are one. */
function isPayee({ actions, slots }: Analysis): boolean {
  return actions.join() === 'pay' && slots.filter(({ slot }) => slot.kind === 'name').length === 1;
}

function isPaid({ role, documentary }: SlotUse): boolean {
  return role === 'to' || role === '' || documentary;
}

const COUNTS: ReadonlySet<SlotKind> = new Set<SlotKind>(['amount', 'number', 'percent', 'ordinal']);
const ADDRESSES: ReadonlySet<SlotKind> = new Set<SlotKind>(['email', 'agent', 'url']);

const SPOKEN: Partial<Readonly<Record<SlotKind, string>>> = {
  id: 'an id',
  amount: 'an amount',
  agent: 'an agent',
  email: 'an e-mail address',
  half: 'a half year',
  fiscal: 'a fiscal year',
  relative: 'a relative time',
  percent: 'a percentage',
  ordinal: 'an ordinal',
  terms: 'payment terms',
  url: 'an address',
  quoted: 'a quotation',
};

function spoken(kind: SlotKind): string {
  return SPOKEN[kind] ?? `a ${kind}`;
}
