/** Results of the fallback encoder. */

import { MAX_FINDINGS, moreFindings } from '../codes.js';
import type { Candidate } from '../matching/match.js';
import { unstatedIn } from '../matching/unstated.js';
import type { ModelUsage } from '../models/model.js';

/** The tier that answered (draft-mackay-aacp-01, section 6.3): `cache` is tier 1, `pattern` 2, `model` 3. */
export type Tier = 'cache' | 'pattern' | 'model';

/** The reasons for an answer. */
export interface FallbackExplanation {
  /** The tier that answered. `none` if an encoding would call the model, which `explain()` does not do. */
  readonly tier: Tier | 'none';
  /** The explanation in one or two sentences. */
  readonly text: string;
  /** The registry key of the request: 64 hexadecimal digits. */
  readonly key: string;
  /** The pattern that matched; `null` in tiers 1 and 3. */
  readonly match: Candidate | null;
  /** Similar patterns, best first, each with the reason why it does not match. Tiers 2 and 3 only. */
  readonly candidates: readonly Candidate[];
  /** Changes to the packet of the model: fields that the request determines. */
  readonly adjustments: readonly string[];
}

/** A problem that did not stop the encoding. */
export interface FallbackWarning {
  /**
   * `not-stored`: the packet could not be stored; storing is retried. `registry-failed`: the registry could not be read, and was not used.
   * Both are reported once, and again after the registry has worked. `registry-in-memory`: the default registry cannot be written; new
   * packets are kept in memory until the encoder is closed. `unstated-value`: the packet contains an amount, a date, an id or a name that
   * the instruction does not state. `bad-entry`: an entry of the registry was ignored, since its packet is not valid for this request.
   * Otherwise a code of the validator or of the linter, about the packet.
   */
  readonly code: string;
  /** The warning as one or two sentences. */
  readonly message: string;
}

/** The numbers of tokens of an instruction and its packet. */
export interface FallbackTokens {
  /** The tokens of the instruction. */
  readonly english: number;
  /** The tokens of the packet. */
  readonly packet: number;
  /** `false` if the numbers are estimates. */
  readonly exact: boolean;
  /** The name of the token encoding. */
  readonly encoding: string;
}

/** The result of an encoding. */
export interface FallbackResult {
  /** The text of a valid packet. */
  readonly packet: string;
  /** The TASK of the packet. */
  readonly task: string;
  /** The DOM of the packet. */
  readonly domain: string;
  /** The tier that answered. */
  readonly tier: Tier;
  /** The reasons for the answer. */
  readonly explain: FallbackExplanation;
  /** The cost of this answer in US dollars; 0 without a call of the model, `null` if its price is unknown. */
  readonly cost: number | null;
  /** The number of calls of the model, and the tokens that they used. */
  readonly usage: ModelUsage & { readonly calls: number };
  /** The tokens of the instruction and the packet. Counted on first access. */
  readonly tokens: FallbackTokens;
  /** Problems that did not prevent the encoding, and findings about the packet. */
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
      message: `The packet contains ${value} in ${key}, which the instruction does not state.`,
    };
  });
  if (found.length > MAX_FINDINGS) warnings.push(warningOf(moreFindings(found.length - MAX_FINDINGS, 'warning')));
  return warnings;
}
