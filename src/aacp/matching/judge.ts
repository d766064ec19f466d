/** One pattern held against one instruction. */
import type { Field, Packet } from '../ast.js';
import { inventedIn } from '../fallback/unstated.js';
import { printPacket } from '../print.js';
import { validatePacket } from '../validate.js';
import { VERSION } from '../vocabulary.js';
import type { Analysis } from './analysis.js';
import { readAs } from './asking.js';
import { type Overlap, overlapOf } from './bags.js';
import { contradiction, otherNegation } from './contradictions.js';
import { otherFrame } from './frame.js';
import { otherGuard } from './guards.js';
import type { Candidate, MatchRequest, PatternSource, Refusal } from './match.js';
import { misplaced } from './order.js';
import { type Pair, pairSlots } from './pairing.js';

/** The fields for an instruction, or why there are none. */
export type Writing =
  | {
      readonly packet: Packet;
      readonly slots: Readonly<Record<string, string>>;
      readonly refusal: null;
    }
  | { readonly refusal: Refusal; readonly reason: string };

export interface Pattern {
  readonly source: PatternSource;
  readonly domain: string;
  readonly analysis: Analysis;
  /** Takes any letters in ids: the pattern has none of its own. */
  readonly anyId: boolean;
  /** The packet with the values of the instruction. */
  readonly write: (pairs: readonly Pair[]) => Writing;
}

/** What is decided about a pattern. */
export interface Verdict {
  readonly candidate: Candidate;
  /** `null` where it does not serve. */
  readonly packet: Packet | null;
}

/** Faults in the order of the contract: the worst that applies is told. */
export function judge(pattern: Pattern, request: MatchRequest, instruction: Analysis, threshold: number): Verdict {
  const analysis = readAs(pattern.analysis, instruction);
  if (analysis !== pattern.analysis) return judge({ ...pattern, analysis }, request, instruction, threshold);
  const read = readAs(instruction, pattern.analysis);
  if (read !== instruction) return judge(pattern, request, read, threshold);
  const overlap = overlapOf(pattern.analysis, instruction);
  const fault = faultOf(pattern, request, instruction, overlap);
  if (fault !== null) return refused(pattern, overlap, fault);
  const paired = pairSlots(pattern.analysis, instruction, pattern.anyId);
  if (paired.refusal !== null && paired.refusal !== 'order') return refused(pattern, overlap, paired);
  const written = paired.refusal === null ? pattern.write(paired.pairs) : paired;
  if (written.refusal !== null) return refused(pattern, overlap, written);
  const otherwise =
    orderFault(pattern.analysis, instruction) ??
    wordFault(overlap, threshold) ??
    guardFault(pattern.analysis, instruction) ??
    frameFault(pattern.analysis, instruction);
  if (otherwise !== null) return refused(pattern, overlap, otherwise);
  return served(pattern.source, overlap, written, request);
}

/** What a pattern that serves gives, once its packet has been checked. */
export function served(
  source: PatternSource,
  overlap: Overlap,
  { packet, slots }: Extract<Writing, { readonly refusal: null }>,
  request: MatchRequest,
): Verdict {
  const asked = forRequest(packet, request);
  const error = errorOf(asked);
  const candidate = candidateOf(source, overlap, slots);
  if (error !== null) {
    const reason = `The packet would not be valid: ${error}.`;
    return { candidate: { ...candidate, refusal: 'invalid-packet', reason }, packet: null };
  }
  const names = Object.keys(slots);
  const what = names.length === 0 ? '' : `, with ${names.join(', ')} from this instruction`;
  const reason = `It asks for the same (score ${overlap.score.toFixed(2)})${what}.`;
  return { candidate: { ...candidate, refusal: null, reason }, packet: asked };
}

/** Returns what a pattern writes; or why it does not serve, where its packet has facts that the instruction does not state. */
export function withoutInventions(writing: Writing, instruction: string): Writing {
  const invented = writing.refusal === null ? inventedIn(writing.packet, instruction) : null;
  if (invented === null) return writing;
  const reason = `its packet has ${invented.key} "${invented.text}", which the instruction does not state`;
  return { refusal: 'invented-fact', reason };
}

interface Fault {
  readonly refusal: Refusal;
  readonly reason: string;
}

export function refused({ source }: { readonly source: PatternSource }, overlap: Overlap, fault: Fault): Verdict {
  const reason = `${fault.reason.charAt(0).toUpperCase()}${fault.reason.slice(1)}.`;
  return { candidate: { ...candidateOf(source, overlap, {}), refusal: fault.refusal, reason }, packet: null };
}

/** Negation, contradiction and action; and before them the domain. */
export function faultOf(
  { domain, analysis }: { readonly domain: string; readonly analysis: Analysis },
  request: MatchRequest,
  instruction: Analysis,
  overlap: Overlap,
): Fault | null {
  if (domain !== request.domain) return { refusal: 'domain', reason: `it is for ${domain}, not for ${request.domain}` };
  const negation = otherNegation(analysis, instruction);
  if (negation !== null) return { refusal: 'negation', reason: `only one of them says ${negation}` };
  const contrary = contradiction(overlap, analysis, instruction);
  if (contrary !== null)
    return { refusal: 'contradiction', reason: `they say the contrary of each other: ${contrary}` };
  const ordered = analysis.ordered || instruction.ordered;
  const [here, there] = [analysis, instruction].map(({ actions }) =>
    (ordered ? actions : [...actions].sort()).join(', '),
  );
  if (here === there) return null;
  return {
    refusal: 'action',
    reason: `it asks to ${here || 'do nothing'}, and the instruction to ${there || 'do nothing'}`,
  };
}

function orderFault(pattern: Analysis, instruction: Analysis): Fault | null {
  const place = misplaced(pattern, instruction);
  return place === null ? null : { refusal: 'order', reason: `the same words stand in other places: ${place}` };
}

function guardFault(pattern: Analysis, instruction: Analysis): Fault | null {
  const guard = otherGuard(pattern.guards, instruction.guards);
  return guard === null ? null : { refusal: 'contradiction', reason: `they do not agree in ${guard}` };
}

function frameFault(pattern: Analysis, instruction: Analysis): Fault | null {
  const difference = otherFrame(pattern.frame, instruction.frame);
  return difference === null ? null : { refusal: 'order', reason: `they differ in ${difference}` };
}

function wordFault({ telling, score }: Overlap, threshold: number): Fault | null {
  const [extra] = telling.extra;
  if (extra !== undefined) return { refusal: 'score', reason: `only the instruction says ${spoken(extra)}` };
  const [missing] = telling.missing;
  if (missing !== undefined) return { refusal: 'score', reason: `the instruction does not say ${spoken(missing)}` };
  if (score >= threshold) return null;
  return { refusal: 'score', reason: `its score is ${score.toFixed(2)}, below ${threshold}` };
}

function spoken(key: string): string {
  return `"${key.replace(/^~/, '').replace('+ed', 'ed')}"`;
}

function candidateOf(
  source: PatternSource,
  { score, shared, extra, missing }: Overlap,
  slots: Readonly<Record<string, string>>,
): Omit<Candidate, 'refusal' | 'reason'> {
  return { source, score, shared, extra, missing, slots };
}

/** Who gets the answer, how urgent it is, and in which version it is written, is for the request to say. */
export function forRequest(packet: Packet, { returnAgent, priority }: MatchRequest): Packet {
  const asked: readonly Field[] = [
    { key: 'return', value: returnAgent },
    { key: 'p', value: priority },
    { key: 'aacp', value: VERSION },
  ];
  const rest = packet.fields.filter(({ key }) => asked.every((field) => field.key !== key));
  return { kind: 'packet', task: packet.task, domain: packet.domain, fields: [...asked, ...rest] };
}

function errorOf(packet: Packet): string | null {
  try {
    printPacket(packet);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message.replace(/\.$/, '') : String(thrown);
  }
  const { errors } = validatePacket(packet);
  return errors[0]?.message.replace(/\.$/, '') ?? null;
}
