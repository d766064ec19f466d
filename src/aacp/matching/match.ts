/** The contract of tier 2: what it is asked, and what it answers. */
import type { Packet } from '../ast.js';
import type { RegistryEntry } from '../registry/registry.js';
import type { Rule } from '../rules/rule.js';

/** What a packet is asked for. */
export interface MatchRequest {
  readonly instruction: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: string;
  /** What relative dates refer to, in milliseconds since 1970. */
  readonly now: number;
}

/** Where a pattern comes from. */
export type PatternSource =
  | { readonly kind: 'rule'; readonly rule: Rule; readonly phrase: string | null }
  | { readonly kind: 'registry'; readonly entry: RegistryEntry };

/**
 * Why a pattern does not serve, worst first: `domain`, `negation`, `contradiction`, `action`, `slot-kind` (one of them has a
 * date, the other none), `slot-unplaced` (a value differs that the stored packet does not show), `slot-ambiguous`,
 * `slot-missing` (the pattern needs a value that the instruction does not have), `order` (the same words in other places: from
 * A to B, from B to A), `score`, `invented-fact` (the packet of a rule or an entry has an actor, a chain, a demand or rules that the
 * instruction does not state), `invalid-packet`.
 */
export type Refusal =
  | 'domain'
  | 'negation'
  | 'contradiction'
  | 'action'
  | 'slot-kind'
  | 'slot-unplaced'
  | 'slot-ambiguous'
  | 'slot-missing'
  | 'order'
  | 'score'
  | 'invented-fact'
  | 'invalid-packet';

/** One pattern, held against an instruction. */
export interface Candidate {
  readonly source: PatternSource;
  /** 0 to 1: the weight of the words that both have, of all words that either has. */
  readonly score: number;
  /** The words that both have, in their base forms. */
  readonly shared: readonly string[];
  /** Words of the instruction that the pattern lacks, and the other way round. */
  readonly extra: readonly string[];
  readonly missing: readonly string[];
  /** Slots by name, as they were filled from the instruction. */
  readonly slots: Readonly<Record<string, string>>;
  /** `null` when it serves. */
  readonly refusal: Refusal | null;
  /** One sentence. */
  readonly reason: string;
}

export type MatchResult =
  | {
      readonly kind: 'match';
      readonly packet: Packet;
      readonly candidate: Candidate;
      readonly others: readonly Candidate[];
    }
  | { readonly kind: 'none'; readonly candidates: readonly Candidate[] };
