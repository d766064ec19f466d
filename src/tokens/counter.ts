/** Counting tokens without waiting: what a codec needs while it encodes. */
import { estimateTokens } from './estimate.js';

/** Counts the tokens of a text, at once. */
export interface TokenCounter {
  /** Tokens of one text; in time proportional to its length. */
  readonly count: (text: string) => number;
  /** `false` for estimates. */
  readonly exact: boolean;
  /** The vocabulary: `o200k_base`, ..., or `estimate`. */
  readonly encoding: string;
}

/** Estimates, for where no vocabulary is loaded. */
export const ESTIMATING_COUNTER: TokenCounter = { count: estimateTokens, exact: false, encoding: 'estimate' };
