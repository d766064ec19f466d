/** Answers of the tiers, and their explanations. */
import type { TokenCounter } from '../../tokens/counter.js';
import { instructionId, normaliseInstruction } from '../matching/instruction/normalise.js';
import type { Candidate, MatchResult, Refusal } from '../matching/match.js';
import { termsOf } from '../matching/wording.js';
import type { Hint } from '../models/prompt.js';
import { printPacket } from '../print.js';
import type { NewEntry } from '../registry/registry.js';
import type { ModelPacket } from './call-model.js';
import { FallbackError } from './errors.js';
import type { FallbackRequest } from './request.js';
import { type FallbackExplanation, type FallbackResult, type FallbackWarning, unstatedWarnings } from './result.js';
import { factsOf, isPacketFor } from './safe-registry.js';

/** An answer without the members that are computed from its packet. */
export type Answer = Omit<FallbackResult, 'tokens' | 'task' | 'domain'>;

const NO_CALLS = { calls: 0, inputTokens: 0, outputTokens: 0 } as const;

/** The number of similar patterns that the model gets as examples. */
const MAX_HINTS = 2;

export function cachedAnswer(packet: string, request: FallbackRequest, why: string): Answer {
  return {
    packet,
    tier: 'cache',
    explain: explanation('cache', why, request),
    cost: 0,
    usage: NO_CALLS,
    warnings: unstatedWarnings(packet, request.instruction, request.now),
  };
}

/** Rejects a match whose packet is not for the request: a rule may belong to one domain, and its packet to another. */
export function matchFor(match: MatchResult, request: FallbackRequest, strict: boolean): MatchResult {
  if (match.kind === 'none') return match;
  const packet = printPacket(match.packet);
  if (!isPacketFor(packet, request)) return withRefusal('invalid-packet', 'Its packet is not valid for this request.');
  if (!strict || match.candidate.source.kind === 'rule') return match;
  const [warning] = unstatedWarnings(packet, request.instruction, request.now);
  return warning === undefined ? match : withRefusal('invented-fact', warning.message);

  function withRefusal(refusal: Refusal, reason: string): MatchResult {
    const { candidate, others } = match as Extract<MatchResult, { readonly kind: 'match' }>;
    return { kind: 'none', candidates: [{ ...candidate, refusal, reason }, ...others] };
  }
}

/** Returns the answer of a match, or `null` if no pattern matched. */
export function patternAnswer(match: MatchResult, request: FallbackRequest): Answer | null {
  if (match.kind === 'none') return null;
  const { candidate, others } = match;
  const packet = printPacket(match.packet);
  const explain = { ...explanation('pattern', candidate.reason, request), match: candidate, candidates: others };
  // The author of a rule is responsible for the constant parts of its packet.
  const isFromModel = candidate.source.kind === 'registry';
  const warnings = isFromModel ? unstatedWarnings(packet, request.instruction, request.now) : [];
  return { packet, tier: 'pattern', explain, cost: 0, usage: NO_CALLS, warnings };
}

export function modelAnswer(made: ModelPacket, candidates: readonly Candidate[], request: FallbackRequest): Answer {
  const { packet, cost, usage, adjustments, warnings } = made;
  const repaired = usage.calls > 1 ? ' Its first reply contained no valid packet; the second one corrected it.' : '';
  const why = `The model was called: ${noMatch(candidates)}${repaired}`;
  return {
    packet,
    tier: 'model',
    explain: { ...explanation('model', why, request), candidates, adjustments },
    cost,
    usage,
    warnings,
  };
}

export function novel(candidates: readonly Candidate[], request: FallbackRequest): FallbackExplanation {
  return { ...explanation('none', noMatch(candidates), request), candidates };
}

export function candidatesOf(match: MatchResult): readonly Candidate[] {
  return match.kind === 'match' ? [match.candidate, ...match.others] : match.candidates;
}

function explanation(tier: FallbackExplanation['tier'], text: string, { key }: FallbackRequest): FallbackExplanation {
  return { tier, text, key, match: null, candidates: [], adjustments: [] };
}

function noMatch(candidates: readonly Candidate[]): string {
  const [nearest] = candidates;
  if (nearest === undefined) return 'no rule or earlier instruction is similar to this one.';
  return `the most similar pattern does not match: ${nearest.reason}`;
}

export function noModel(candidates: readonly Candidate[]): FallbackError {
  return new FallbackError({
    code: 'no-model',
    message: `No model is configured, and ${noMatch(candidates)}`,
    help: 'configure a model, or add a rule for the instruction',
  });
}

/** Makes the registry entry for a packet of a model. */
export function entryOf(request: FallbackRequest, { packet, cost, model }: ModelPacket): NewEntry {
  const { key, instruction, normalised, domain, returnAgent, priority, version } = request;
  return {
    ...{ key, instruction, normalised, domain, returnAgent, priority, version, packet, cost, model },
    id: instructionId(normaliseInstruction(instruction)),
    origin: 'model',
    givenAt: request.now,
    terms: termsOf(instruction),
  };
}

export function hintsOf(candidates: readonly Candidate[]): readonly Hint[] {
  return candidates
    .filter(({ refusal }) => refusal !== 'domain')
    .slice(0, MAX_HINTS)
    .map(({ source }) => {
      if (source.kind === 'registry') return { instruction: source.entry.instruction, packet: source.entry.packet };
      return { instruction: source.phrase ?? source.rule.description, packet: source.rule.packet };
    });
}

export function resultOf(
  answer: Answer,
  { instruction }: FallbackRequest,
  found: readonly FallbackWarning[],
  counter: () => TokenCounter,
): FallbackResult {
  const { packet, tier, explain, cost, usage } = answer;
  const { task, domain } = factsOf(packet);
  let tokens: FallbackResult['tokens'] | undefined;
  // Member by member: a spread takes several times as long as the rest of tier 1.
  return {
    packet,
    task,
    domain,
    tier,
    explain,
    cost,
    usage,
    warnings: found.length === 0 ? answer.warnings : [...found, ...answer.warnings],
    // Counting takes longer than the rest of tier 1, and most callers do not need it.
    get tokens() {
      if (tokens === undefined) {
        const { count, exact, encoding } = counter();
        tokens = { english: count(instruction), packet: count(packet), exact, encoding };
      }
      return tokens;
    },
  };
}
