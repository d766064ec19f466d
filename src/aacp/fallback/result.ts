/** What the fallback encoder answers. */

import { MAX_FINDINGS, moreFindings } from '../codes.js';
import type { Candidate } from '../matching/match.js';
import { unstatedIn } from '../matching/unstated.js';
import type { ModelUsage } from '../models/model.js';

/** Which tier answered (draft-mackay-aacp-01, section 6.3): 1, 2 or 3. */
export type Tier = 'cache' | 'pattern' | 'model';

/** Why an answer is what it is. */
export interface FallbackExplanation {
  /** `none` where an encoding would have to ask the model, which `explain()` does not. */
  readonly tier: Tier | 'none';
  readonly text: string;
  readonly key: string;
  /** The pattern that served; `null` in the other tiers. */
  readonly match: Candidate | null;
  /** Patterns that came near, best first, each with why it did not serve. Tier 2 and 3 only. */
  readonly candidates: readonly Candidate[];
  /** What was changed in the model's packet: values that the request decides, not the model. */
  readonly adjustments: readonly string[];
}

/** A problem that did not stop the encoding. */
export interface FallbackWarning {
  /**
   * `not-stored`: the packet was paid for and could not be kept; storing is retried. `registry-failed`: the registry could not be read; the
   * answer comes without it. Both are given once, and again after the registry has worked. `registry-in-memory`: the default registry
   * cannot be written; it is kept in memory until the encoder is closed. `unstated-value`: the packet has an amount, a date, an id
   * or a name that the instruction does not state. `bad-entry`: an entry of the registry was not served, since it is not a valid
   * packet for this request. Else a code of the validator or of the linter, about the packet.
   */
  readonly code: string;
  readonly message: string;
}

export interface FallbackTokens {
  readonly english: number;
  readonly packet: number;
  /** `false` for estimates. */
  readonly exact: boolean;
  readonly encoding: string;
}

export interface FallbackResult {
  /** The text of a valid packet. */
  readonly packet: string;
  readonly task: string;
  readonly domain: string;
  readonly tier: Tier;
  readonly explain: FallbackExplanation;
  /** US dollars that this answer cost; 0 without a call, `null` where the model's price is not known. */
  readonly cost: number | null;
  readonly usage: ModelUsage & { readonly calls: number };
  /** Counted when they are first read. */
  readonly tokens: FallbackTokens;
  readonly warnings: readonly FallbackWarning[];
}

export function warningOf({ code, message }: FallbackWarning): FallbackWarning {
  return { code, message };
}

export function unstatedWarnings(packet: string, instruction: string, givenAt: number): readonly FallbackWarning[] {
  const found = unstatedIn(packet, instruction, givenAt);
  const warnings: FallbackWarning[] = found.slice(0, MAX_FINDINGS).map(({ key, text }) => {
    const value = JSON.stringify(text.slice(0, 80));
    return {
      code: 'unstated-value',
      message: `The instruction does not state ${value}, which the packet has in ${key}.`,
    };
  });
  if (found.length > MAX_FINDINGS) warnings.push(warningOf(moreFindings(found.length - MAX_FINDINGS, 'warning')));
  return warnings;
}
