/** Evaluates the matcher on pairs of instructions: the packet of the first is stored, then the second is looked up. */

import { canonicalizePacket, parsePacket, printPacket } from '../../../src/aacp/index.js';
import { instructionId, normaliseInstruction, registryKey } from '../../../src/aacp/matching/instruction/normalise.js';
import type { Candidate } from '../../../src/aacp/matching/match.js';
import { createMatcher, type MatcherOptions } from '../../../src/aacp/matching/matcher.js';
import { termsOf } from '../../../src/aacp/matching/wording.js';
import { memoryRegistry } from '../../../src/aacp/registry/memory.js';
import type { NewEntry, Registry } from '../../../src/aacp/registry/registry.js';

export interface PairRequest {
  readonly instruction: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: string;
}

export interface InstructionPair {
  readonly id: string;
  readonly kind: string;
  readonly first: PairRequest & { readonly packet: string };
  readonly second: PairRequest;
  /** The correct packet; null if no packet may be served. */
  readonly wanted: string | null;
  readonly note?: string | undefined;
}

export interface PairOutcome {
  readonly pair: InstructionPair;
  readonly verdict: 'right' | 'wrong' | 'refused';
  readonly served: string | null;
  /** The pattern that was served, or the nearest one. */
  readonly candidate: Candidate | undefined;
}

/** The day that relative times refer to: an arbitrary one. */
export const NOW = Date.UTC(2026, 10, 22, 12);

type Extras = Pick<MatcherOptions, 'rules' | 'encodeStep'>;

/** Each pair alone: the registry contains only its first instruction. */
export function alone(pairs: readonly InstructionPair[], extras: Extras = {}): readonly PairOutcome[] {
  return pairs.map((pair) => outcomeOf(pair, registryOf([pair]), extras));
}

/** All first instructions in one registry. */
export function together(pairs: readonly InstructionPair[], extras: Extras = {}): readonly PairOutcome[] {
  const registry = registryOf(pairs);
  return pairs.map((pair) => outcomeOf(pair, registry, extras));
}

function registryOf(pairs: readonly InstructionPair[]): Registry {
  const registry = memoryRegistry({ now: () => NOW });
  for (const { first } of pairs) registry.put(entryOf(first));
  return registry;
}

/** The entry that the fallback encoder would store. */
export function entryOf(first: PairRequest & { readonly packet: string }): NewEntry {
  const normalised = normaliseInstruction(first.instruction);
  const request = { ...first, normalised, version: '1.1' };
  return {
    ...request,
    ...{ key: registryKey(request), id: instructionId(normalised), terms: termsOf(first.instruction) },
    ...{ origin: 'model', model: null, cost: null },
  };
}

function outcomeOf(pair: InstructionPair, registry: Registry, extras: Extras): PairOutcome {
  const { second, wanted } = pair;
  const result = createMatcher({ registry, ...extras }).match({ ...second, now: NOW });
  if (result.kind === 'none') return { pair, verdict: 'refused', served: null, candidate: result.candidates[0] };
  const served = printPacket(result.packet);
  const verdict = wanted !== null && canonical(served) === canonical(wanted) ? 'right' : 'wrong';
  return { pair, verdict, served, candidate: result.candidate };
}

function canonical(packet: string): string {
  return printPacket(canonicalizePacket(parsePacket(packet)));
}
