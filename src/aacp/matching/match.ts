/** Requests and results of tier 2. */
import type { Packet } from '../ast.js';
import type { Rule } from '../rules/rule.js';
import type { RegistryEntry } from './entry.js';

export interface MatchRequest {
  readonly instruction: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: string;
  /** The time that relative dates refer to, in milliseconds since 1970. */
  readonly now: number;
}

export type PatternSource =
  | { readonly kind: 'rule'; readonly rule: Rule; readonly phrase: string | null }
  | { readonly kind: 'registry'; readonly entry: RegistryEntry };

/**
 * Why a pattern does not serve: `domain`; `negation` (only one of them says "not" or the like), `action` (they begin with other words),
 * `score` (another word, other capitals, or too many other courtesies), `slot-kind` (a date where the other has none), `order` (the same words in
 * another order); `contradiction` (the instruction names another agent than the request), `slot-unplaced` (a value differs that the packet
 * does not show), `slot-ambiguous`, `slot-missing` (the instruction lacks a value), `invented-fact` (the packet has an actor, a chain, a
 * demand or rules that the instruction does not state), `invalid-packet`.
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

/** One pattern, compared with an instruction. */
export interface Candidate {
  readonly source: PatternSource;
  /**
   * 0 to 1: the weight of the words that both have, of all words that either has. Values count by their kind; politeness and "the" count
   * 0.15 of a word. A pattern serves only where all other words are the same, in the same order.
   */
  readonly score: number;
  /** Words of both, in small letters; values as `{kind}`. */
  readonly shared: readonly string[];
  /** Words of the instruction alone, and of the pattern alone. */
  readonly extra: readonly string[];
  readonly missing: readonly string[];
  /** Slots by name, filled from the instruction. */
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
