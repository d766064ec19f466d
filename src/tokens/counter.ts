/** A synchronous counter of tokens. */
export interface TokenCounter {
  /** Returns the number of tokens of a text, in time proportional to its length. */
  readonly count: (text: string) => number;
  /** `false` if the counts are estimates. */
  readonly exact: boolean;
  /** The vocabulary, such as `o200k_base`, or `estimate`. */
  readonly encoding: string;
  /**
   * `true` if a text always has as many tokens as its two parts if it is cut between an ASCII letter or digit and an ASCII symbol other than
   * `'`. A session then counts no text twice. @default false
   */
  readonly splitsAtSymbols?: boolean;
}

/** The counter of {@link estimateTokens}, which does not require a vocabulary. */
export const ESTIMATING_COUNTER: TokenCounter = {
  count: estimateTokens,
  exact: false,
  encoding: 'estimate',
  splitsAtSymbols: true,
};

const PIECES = /[A-Za-z]+|[0-9]+|\s+|[!-/:-@[-`{-~]+|./gsu;

/** The length of the sections of a word that count as one token each. */
const LETTERS_PER_TOKEN = 8;

/**
 * Estimates the number of tokens without a vocabulary, in linear time. The error is at most a quarter for messages and English, and larger for
 * other scripts.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECES)) {
    const { length } = piece;
    if (/^[A-Za-z]/.test(piece)) tokens += Math.ceil(length / LETTERS_PER_TOKEN);
    else if (/^[0-9]/.test(piece)) tokens += Math.ceil(length / 3);
    // A single space belongs to the token of the next word.
    else if (/^\s/.test(piece)) tokens += piece === ' ' ? 0 : 1;
    else if (length > 1 && piece.charCodeAt(0) < 0x80) tokens += Math.ceil(length / 2);
    else tokens += 1;
  }
  return tokens;
}

/** The supported vocabularies. Current models use `o200k_base`, earlier ones `cl100k_base`. */
export const ENCODINGS = ['o200k_base', 'cl100k_base', 'o200k_harmony', 'p50k_base', 'r50k_base'] as const;

/** The name of a vocabulary that counts tokens. */
export type Encoding = (typeof ENCODINGS)[number];
