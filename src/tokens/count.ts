/** How many tokens a text is. */

import { resolveChoice } from '../text/choice.js';
import { ENCODINGS, type Encoding } from './encodings.js';
import { loadTokenCounter } from './load-counter.js';

export { ENCODINGS, type Encoding };

export interface TokenCount {
  readonly tokens: number;
  /** `false` for an estimate, which is made where the package gpt-tokenizer is not installed. */
  readonly exact: boolean;
  readonly encoding: Encoding;
}

/**
 * Counts tokens. Texts that look like special tokens, such as `<|endoftext|>`, count like any other text.
 *
 * @throws TypeError on an encoding that is none
 * @example
 * const { tokens, exact } = await countTokens('@a>req:find{q:cats}');
 */
export async function countTokens(text: string, encoding?: Encoding): Promise<TokenCount> {
  const chosen = resolveChoice('encoding', encoding, ENCODINGS);
  const { count, exact } = await loadTokenCounter(chosen);
  return { tokens: count(text), exact, encoding: chosen };
}
