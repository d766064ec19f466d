/** Uses registry entries as patterns. */
import type { Field, Packet } from '../ast.js';
import { tryParsePacket } from '../parse.js';
import type { RegistryEntry } from './entry.js';
import { fillPacket } from './fill.js';
import { anchorAt } from './instruction/calendar.js';
import { TIME_KINDS } from './instruction/slots.js';
import type { MatchRequest } from './match.js';
import { type PacketResult, type Pair, type Pattern, withoutInventions } from './match-pattern.js';
import { findOccurrences, numbersIn, type Occurrence, REQUEST_KEYS, residueOf, timeIn } from './occurrences.js';
import { holdsWhole, isCurrencyStated, statementOf } from './statement.js';
import { givenAtOf, staleTimeIn } from './unstated.js';
import { readWording, type Wording } from './wording.js';

const MAX_CACHED = 2000;

interface Read {
  readonly instruction: string;
  readonly packet: Packet;
  readonly text: string;
  readonly wording: Wording;
  /** The occurrences of the instruction's values in the packet, searched on first access. */
  readonly occurrences: () => readonly Occurrence[];
}

/** Creates a reader of entries that caches parsed entries. */
export function createEntryReader() {
  const known = new Map<string, Read>();
  return (entry: RegistryEntry, request: MatchRequest, anchor: string | null): Pattern | null => {
    const read = cached(known, entry);
    return read === null ? null : patternOf(entry, read, request, anchor);
  };
}

function cached(known: Map<string, Read>, entry: RegistryEntry): Read | null {
  const found = known.get(entry.key);
  if (found !== undefined && found.instruction === entry.instruction && found.text === entry.packet) return found;
  const packet = tryParsePacket(entry.packet);
  const wording = readWording(entry.instruction);
  if (!packet.ok || wording === null) return null;
  let occurrences: readonly Occurrence[] | undefined;
  const read: Read = {
    instruction: entry.instruction,
    text: entry.packet,
    packet: packet.value,
    wording,
    occurrences() {
      occurrences ??= findOccurrences(packet.value, wording.slots, givenAtOf(entry));
      return occurrences;
    },
  };
  if (known.size >= MAX_CACHED) known.delete(known.keys().next().value!);
  known.set(entry.key, read);
  return read;
}

function patternOf(
  entry: RegistryEntry,
  { packet, wording, occurrences }: Read,
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
      if (past !== null) return unplaced(`"${past}", which was derived on another day`);
      const { unit } = wording;
      const same = anchor === null || (unit !== null && anchor === anchorAt(unit, givenAtOf(entry)));
      const names = pairs.filter(({ stored }) => namesReturn(stored, packet, entry));
      const agent = agentFault(names, request);
      if (agent !== null) return agent;
      const rest = pairs.filter((pair) => !names.includes(pair));
      const filling = fillPacket(packet, rest, occurrences, { given: request.now, same }, entry.instruction);
      if (filling.refusal !== null) return filling;
      const written: PacketResult = {
        packet: { ...packet, fields: filling.fields },
        slots: filling.filled,
        refusal: null,
      };
      const result = withoutInventions(written, request.instruction);
      if (result.refusal !== null) return result;
      return derivedValue(packet, rest, entry) ?? (same ? null : staleTime(packet, rest, entry)) ?? result;
    },
  };
}

/** Rejects a packet with a day that the instruction does not state: "within the last 30 days" may have been resolved to it. */
function staleTime(packet: Packet, pairs: readonly Pair[], entry: RegistryEntry): PacketResult | null {
  const shown = pairs.map(({ stored }) => stored).filter(({ kind }) => TIME_KINDS.has(kind));
  const time = timeIn(residueOf(packet, findOccurrences(packet, shown, givenAtOf(entry))));
  return time === null ? null : unplaced(`"${time}", which was derived at another time`);
}

/** Rejects a changed value if the packet has others that may be derived from it, such as a total, or the month that contains two days. */
function derivedValue({ fields }: Packet, pairs: readonly Pair[], entry: RegistryEntry): PacketResult | null {
  const { instruction } = entry;
  const changed = pairs.filter(({ stored, given }) => stored.value !== given.value);
  if (changed.length === 0) return null;
  const amount = fields.find(({ key }) => key === 'amt')?.value;
  if (amount !== undefined && !numbersIn(instruction).has(Number(amount))) {
    return unplaced(`the amount ${amount}, which was derived`);
  }
  const abbreviation = fields.flatMap((field) => abbreviationsIn(field, entry)).at(0);
  if (abbreviation !== undefined) {
    return unplaced(`"${abbreviation}", which may have been derived`);
  }
  const times = pairs.filter(({ stored }) => TIME_KINDS.has(stored.kind)).length;
  const shown = fields.reduce((all, { value }) => all + (value.match(/\d{4}-\w{2,3}/g)?.length ?? 0), 0);
  if (times < 2 || shown >= times || !changed.some(({ stored }) => TIME_KINDS.has(stored.kind))) return null;
  return unplaced('one time for several times of the instruction');
}

function unplaced(part: string): PacketResult {
  return { refusal: 'slot-unplaced', reason: `the packet contains ${part}` };
}

/** Returns currencies and other abbreviations that an instruction does not state, such as `DE` for Germany. */
function abbreviationsIn({ key, value }: Field, { instruction, givenAt, createdAt }: RegistryEntry): readonly string[] {
  if (REQUEST_KEYS.has(key)) return [];
  const found = value.match(/(?<![\p{L}\p{N}])\p{Lu}{2,3}(?![\p{L}\p{N}])/gu) ?? [];
  if (found.length === 0) return [];
  const statement = statementOf(instruction, givenAtOf({ givenAt, createdAt }));
  const isStated = (code: string): boolean =>
    holdsWhole(statement.small, code.toLowerCase()) || (key === 'ccy' && isCurrencyStated(code, statement));
  return found.filter((code) => !isStated(code));
}

/** Checks that the agent which the instruction names as the receiver is that of the request. */
function agentFault(names: readonly Pair[], { returnAgent }: MatchRequest): PacketResult | null {
  const other = names.find(({ given }) => given.value !== returnAgent.toLowerCase());
  if (other === undefined) return null;
  const reason = `the result goes to ${returnAgent}, but the instruction names ${other.given.text}`;
  return { refusal: 'contradiction', reason };
}

/** Returns whether a value names the receiver of the result, and no other field contains it. */
function namesReturn({ kind, value }: Pair['stored'], { fields }: Packet, { returnAgent }: RegistryEntry): boolean {
  if (kind !== 'agent' || value !== returnAgent.toLowerCase()) return false;
  return !fields.some((field) => field.key !== 'return' && field.value.toLowerCase().includes(value));
}
