/** Registry entries as patterns. */
import type { Field, Packet } from '../ast.js';
import { tryParsePacket } from '../parse.js';
import type { RegistryEntry } from './entry.js';
import { fillPacket } from './fill.js';
import { anchorAt } from './instruction/calendar.js';
import { TIME_KINDS } from './instruction/slots.js';
import { type Pair, type Pattern, type Writing, withoutInventions } from './judge.js';
import type { MatchRequest } from './match.js';
import { findPlaces, numbersIn, type Place, REQUEST_KEYS, residueOf, timeIn } from './places.js';
import { holdsWhole, isCurrencyStated, statementOf } from './statement.js';
import { givenAtOf, staleTimeIn } from './unstated.js';
import { readWording, type Wording } from './wording.js';

const KEPT = 2000;

interface Read {
  readonly instruction: string;
  readonly packet: Packet;
  readonly text: string;
  readonly wording: Wording;
  /** The places of the instruction's values, looked for when they are first needed. */
  readonly places: () => readonly Place[];
}

/** Creates a reader of entries that remembers what it has read. */
export function createEntryReader() {
  const known = new Map<string, Read>();
  return (entry: RegistryEntry, request: MatchRequest, anchor: string | null): Pattern | null => {
    const read = remembered(known, entry);
    return read === null ? null : patternOf(entry, read, request, anchor);
  };
}

function remembered(known: Map<string, Read>, entry: RegistryEntry): Read | null {
  const found = known.get(entry.key);
  if (found !== undefined && found.instruction === entry.instruction && found.text === entry.packet) return found;
  const packet = tryParsePacket(entry.packet);
  const wording = readWording(entry.instruction);
  if (!packet.ok || wording === null) return null;
  let places: readonly Place[] | undefined;
  const read: Read = {
    instruction: entry.instruction,
    text: entry.packet,
    packet: packet.value,
    wording,
    places() {
      places ??= findPlaces(packet.value, wording.slots, givenAtOf(entry));
      return places;
    },
  };
  if (known.size >= KEPT) known.delete(known.keys().next().value!);
  known.set(entry.key, read);
  return read;
}

function patternOf(
  entry: RegistryEntry,
  { packet, wording, places }: Read,
  request: MatchRequest,
  anchor: string | null,
): Pattern {
  return {
    source: { kind: 'registry', entry },
    domain: entry.domain,
    wording,
    anyId: false,
    write: (pairs) => {
      const past = staleTimeIn(entry, request.now);
      if (past !== null) return unplaced(`"${past}", which was worked out on another day`);
      const { unit } = wording;
      const same = anchor === null || (unit !== null && anchor === anchorAt(unit, givenAtOf(entry)));
      const names = pairs.filter(({ stored }) => namesReturn(stored, packet, entry));
      const agent = agentFault(names, request);
      if (agent !== null) return agent;
      const rest = pairs.filter((pair) => !names.includes(pair));
      const filling = fillPacket(packet, rest, places, { given: request.now, same }, entry.instruction);
      if (filling.refusal !== null) return filling;
      const written: Writing = { packet: { ...packet, fields: filling.fields }, slots: filling.filled, refusal: null };
      const writing = withoutInventions(written, request.instruction);
      if (writing.refusal !== null) return writing;
      return workedOut(packet, rest, entry) ?? (same ? null : staleTime(packet, rest, entry)) ?? writing;
    },
  };
}

/** Refuses a packet with a day that the text does not have: "within the last 30 days" may have been worked out. */
function staleTime(packet: Packet, pairs: readonly Pair[], entry: RegistryEntry): Writing | null {
  const shown = pairs.map(({ stored }) => stored).filter(({ kind }) => TIME_KINDS.has(kind));
  const time = timeIn(residueOf(packet, findPlaces(packet, shown, givenAtOf(entry))));
  return time === null ? null : unplaced(`"${time}", which was worked out at another time`);
}

/** Refuses a changed value if the packet has others that may be worked out of it: a total, or the month that two days lie in. */
function workedOut({ fields }: Packet, pairs: readonly Pair[], entry: RegistryEntry): Writing | null {
  const { instruction } = entry;
  const changed = pairs.filter(({ stored, given }) => stored.value !== given.value);
  if (changed.length === 0) return null;
  const amount = fields.find(({ key }) => key === 'amt')?.value;
  if (amount !== undefined && !numbersIn(instruction).has(Number(amount))) {
    return unplaced(`the amount ${amount}, which was worked out`);
  }
  const abbreviation = fields.flatMap((field) => abbreviationsIn(field, entry)).at(0);
  if (abbreviation !== undefined) {
    return unplaced(`"${abbreviation}", which may have been worked out`);
  }
  const times = pairs.filter(({ stored }) => TIME_KINDS.has(stored.kind)).length;
  const shown = fields.reduce((all, { value }) => all + (value.match(/\d{4}-\w{2,3}/g)?.length ?? 0), 0);
  if (times < 2 || shown >= times || !changed.some(({ stored }) => TIME_KINDS.has(stored.kind))) return null;
  return unplaced('one time for several of the text');
}

function unplaced(what: string): Writing {
  return { refusal: 'slot-unplaced', reason: `the packet has ${what}` };
}

/** Currencies and other abbreviations that an instruction does not state: `DE` for Germany. */
function abbreviationsIn({ key, value }: Field, { instruction, givenAt, createdAt }: RegistryEntry): readonly string[] {
  if (REQUEST_KEYS.has(key)) return [];
  const found = value.match(/(?<![\p{L}\p{N}])\p{Lu}{2,3}(?![\p{L}\p{N}])/gu) ?? [];
  if (found.length === 0) return [];
  const statement = statementOf(instruction, givenAtOf({ givenAt, createdAt }));
  const isStated = (code: string): boolean =>
    holdsWhole(statement.small, code.toLowerCase()) || (key === 'ccy' && isCurrencyStated(code, statement));
  return found.filter((code) => !isStated(code));
}

/** The agent that the text names for the answer has to be that of the request. */
function agentFault(names: readonly Pair[], { returnAgent }: MatchRequest): Writing | null {
  const other = names.find(({ given }) => given.value !== returnAgent.toLowerCase());
  if (other === undefined) return null;
  const reason = `the answer goes to ${returnAgent}, and the instruction says ${other.given.text}`;
  return { refusal: 'contradiction', reason };
}

/** Whether an agent gets the answer, and no other field is about it. */
function namesReturn({ kind, value }: Pair['stored'], { fields }: Packet, { returnAgent }: RegistryEntry): boolean {
  if (kind !== 'agent' || value !== returnAgent.toLowerCase()) return false;
  return !fields.some((field) => field.key !== 'return' && field.value.toLowerCase().includes(value));
}
