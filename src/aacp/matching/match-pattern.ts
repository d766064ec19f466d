/** Compares one pattern with one instruction. */
import type { Field, Packet } from '../ast.js';
import { printPacket } from '../print.js';
import { validatePacket } from '../validate.js';
import { VERSION } from '../vocabulary.js';
import type { Slot } from './instruction/slots.js';
import type { Candidate, MatchRequest, PatternSource, Refusal } from './match.js';
import { inventedIn } from './unstated.js';
import { keysOf, type Overlap, otherCapitals, otherNegation, overlapOf, sameWords, type Wording } from './wording.js';

/** A value of a pattern, and the value of the instruction in its place. */
export interface Pair {
  readonly stored: Slot;
  readonly given: Slot;
}

/** The reason why a pattern does not match. */
export interface Fault {
  readonly refusal: Refusal;
  readonly reason: string;
}

/** The packet for an instruction, or the reason why there is none. */
export type PacketResult =
  | { readonly packet: Packet; readonly slots: Readonly<Record<string, string>>; readonly refusal: null }
  | Fault;

export interface Pattern {
  readonly source: PatternSource;
  readonly domain: string;
  readonly wording: Wording;
  /** `true` if ids may have any letters, since the pattern has sample values only. */
  readonly anyId: boolean;
  readonly write: (pairs: readonly Pair[]) => PacketResult;
}

export interface PatternResult {
  readonly candidate: Candidate;
  readonly packet: Packet | null;
}

/** Compares a pattern with an instruction. Reports the most serious fault, in the order of `Refusal`. */
export function matchPattern(
  pattern: Pattern,
  request: MatchRequest,
  instruction: Wording,
  threshold: number,
): PatternResult {
  const { source, domain, wording, anyId } = pattern;
  const overlap = overlapOf(wording, instruction);
  const { score } = overlap;
  const candidate = { source, ...overlap, slots: {} };
  if (domain !== request.domain) {
    return refused(candidate, { refusal: 'domain', reason: `it is for ${domain}, not for ${request.domain}` });
  }
  if (!sameWords(wording, instruction)) return refused(candidate, wordFault(wording, instruction, overlap));
  // Phrases of rules are in lower case, whatever the instruction has.
  const capitals = source.kind === 'registry' ? otherCapitals(wording, instruction) : null;
  if (capitals !== null) {
    return refused(candidate, { refusal: 'score', reason: `only the instruction writes "${capitals}" in this way` });
  }
  const pairs = wording.slots.map((stored, index) => ({ stored, given: instruction.slots[index]! }));
  const other = anyId ? undefined : pairs.find(({ stored, given }) => identifiesOther(stored, given));
  if (other !== undefined) {
    const reason = `"${other.stored.text}" and "${other.given.text}" identify different things`;
    return refused(candidate, { refusal: 'slot-kind', reason });
  }
  const written = pattern.write(pairs);
  if (written.refusal !== null) return refused(candidate, written);
  if (score < threshold) {
    return refused(candidate, { refusal: 'score', reason: `its score is ${score.toFixed(2)}, below ${threshold}` });
  }
  const addressed = forRequest(written.packet, request);
  const error = errorOf(addressed);
  const { slots } = written;
  if (error !== null) {
    const fault: Fault = { refusal: 'invalid-packet', reason: `the packet would not be valid: ${error}` };
    return refused({ ...candidate, slots }, fault);
  }
  const names = Object.keys(slots);
  const what = names.length === 0 ? '' : `, with ${names.join(', ')} from this instruction`;
  const reason = `It has the same words (score ${score.toFixed(2)})${what}.`;
  return { candidate: { ...candidate, slots, refusal: null, reason }, packet: addressed };
}

function refused(candidate: Omit<Candidate, 'refusal' | 'reason'>, { refusal, reason }: Fault): PatternResult {
  const sentence = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
  return { candidate: { ...candidate, refusal, reason: sentence }, packet: null };
}

/** Returns the most serious difference between two wordings. */
function wordFault(pattern: Wording, instruction: Wording, overlap: Overlap): Fault {
  const negation = otherNegation(overlap);
  if (negation !== null) return { refusal: 'negation', reason: `only one of them contains ${negation}` };
  const [here, there] = [keysOf(pattern), keysOf(instruction)];
  if (here[0] !== there[0] && isWord(here[0]) && isWord(there[0])) {
    return { refusal: 'action', reason: `it begins with "${here[0]}", but the instruction with "${there[0]}"` };
  }
  const value = overlap.missing.find(isValue) ?? overlap.extra.find(isValue);
  if (value !== undefined) {
    return {
      refusal: 'slot-kind',
      reason: `only one of them has a value of the kind ${value.slice(1, -1)} in this place`,
    };
  }
  const asides = new Set([...pattern.asides, ...instruction.asides]);
  const extra = overlap.extra.find((key) => !asides.has(key));
  const missing = overlap.missing.find((key) => !asides.has(key));
  if (extra !== undefined) return { refusal: 'score', reason: `only the instruction contains "${extra}"` };
  if (missing !== undefined) return { refusal: 'score', reason: `the instruction does not contain "${missing}"` };
  return { refusal: 'order', reason: 'the same words are in another order' };
}

function isValue(key: string): boolean {
  return /^\{\w+\}$/.test(key);
}

function isWord(key: string | undefined): boolean {
  return key !== undefined && /^\p{L}/u.test(key);
}

/** Returns whether two values of a kind differ in what they identify: `PO-441` and `INV-441`, `5m` and "5 million", "500 pounds" and `GBP 500`. */
function identifiesOther(stored: Slot, given: Slot): boolean {
  if (stored.kind === 'id') return otherPrefix(stored.text, given.text);
  const isOpen = (pattern: RegExp): boolean => pattern.test(stored.text) !== pattern.test(given.text);
  return (stored.kind === 'number' && isOpen(/\dm$/i)) || (stored.kind === 'amount' && isOpen(/pounds?$/i));
}

/** Returns whether two ids differ in their letters, except for codes such as WINTER25 and for small letters of hosts and versions. */
function otherPrefix(stored: string, given: string): boolean {
  const [one = '', other = ''] = [stored, given].map((text) => /^#?([A-Za-z]*)/.exec(text)?.[1]);
  if (one.toLowerCase() === other.toLowerCase() || [stored, given].every((text) => /^[A-Z]{4,}\d\d$/.test(text)))
    return false;
  return [one, other].some((letters) => letters === '' || /^[A-Z]/.test(letters));
}

/** Rejects a packet with facts that the instruction does not state. */
export function withoutInventions(result: PacketResult, instruction: string): PacketResult {
  const invented = result.refusal === null ? inventedIn(result.packet, instruction) : null;
  if (invented === null) return result;
  const reason = `its packet has ${invented.key} "${invented.text}", which the instruction does not state`;
  return { refusal: 'invented-fact', reason };
}

/** Replaces the fields that the request determines. */
function forRequest(packet: Packet, { returnAgent, priority }: MatchRequest): Packet {
  const addressed: readonly Field[] = [
    { key: 'return', value: returnAgent },
    { key: 'p', value: priority },
    { key: 'aacp', value: VERSION },
  ];
  const rest = packet.fields.filter(({ key }) => addressed.every((field) => field.key !== key));
  return { kind: 'packet', task: packet.task, domain: packet.domain, fields: [...addressed, ...rest] };
}

/** Returns the error of a packet, or `null` if it can be sent. */
function errorOf(packet: Packet): string | null {
  try {
    printPacket(packet);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message.replace(/\.$/, '') : String(thrown);
  }
  const { errors } = validatePacket(packet);
  return errors[0]?.message.replace(/\.$/, '') ?? null;
}
