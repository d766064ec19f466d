/** Requests and results of tier 2. */
import type { Packet } from '../ast.js';
import type { Rule } from '../rules/rule.js';
import type { RegistryEntry } from './entry.js';

export interface MatchRequest {
  readonly instruction: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: string;
  /** The time to which relative dates refer, in milliseconds since 1970. */
  readonly now: number;
}

/** The source of a pattern. `phrase` is the phrase of the rule that was compared; `null` for its name. */
export type PatternSource =
  | {
      /** A rule. */
      readonly kind: 'rule';
      /** The rule. */
      readonly rule: Rule;
      /** The phrase of the rule that was compared; `null` for its name. */
      readonly phrase: string | null;
    }
  | {
      /** An entry of the registry. */
      readonly kind: 'registry';
      /** The entry. */
      readonly entry: RegistryEntry;
    };

/**
 * The reason why a pattern does not match. `domain`: it is for another domain. `negation`: only one of the two contains "not" or a similar
 * word. `contradiction`: the instruction names an agent other than that of the request. `action`: they begin with different words. `slot-kind`: a
 * value has another kind. `slot-unplaced`: a value differs that the packet does not contain. `slot-ambiguous`: a value can be read or written
 * in several ways. `slot-missing`: the instruction lacks a value. `order`: the same words are in another order. `score`: another word, other
 * capital letters, or too many other polite phrases. `invented-fact`: the packet has an actor, a chain, requirements or rules that the
 * instruction does not state. `invalid-packet`: the packet would not be valid.
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

/** A pattern that was compared with an instruction. */
export interface Candidate {
  /** The source of the pattern. */
  readonly source: PatternSource;
  /**
   * The score from 0 to 1: the weight of the words that both have, divided by that of all words. Values count by their kind; polite phrases
   * and "the" count 0.15 of a word. A pattern matches only if all other words are the same, in the same order.
   */
  readonly score: number;
  /** The words that both have, in lower case; values as `{kind}`. */
  readonly shared: readonly string[];
  /** The words that only the instruction has. */
  readonly extra: readonly string[];
  /** The words that only the pattern has. */
  readonly missing: readonly string[];
  /** The slots by name, with the values of the instruction. */
  readonly slots: Readonly<Record<string, string>>;
  /** The reason why the pattern does not match; `null` if it matches. */
  readonly refusal: Refusal | null;
  /** The result of the comparison as a sentence. */
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
