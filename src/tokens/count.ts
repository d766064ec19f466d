/** How many tokens a text is. */
import { resolveChoice } from '../text/choice.js';
import { estimateTokens } from './estimate.js';

/** The vocabularies that can be counted in. `o200k_base` is the one of current models, `cl100k_base` the one before. */
export const ENCODINGS = ['o200k_base', 'cl100k_base', 'o200k_harmony', 'p50k_base', 'r50k_base'] as const;

export type Encoding = (typeof ENCODINGS)[number];

export interface TokenCount {
  readonly tokens: number;
  /** `false` for an estimate, which is made where the package gpt-tokenizer is not installed. */
  readonly exact: boolean;
  readonly encoding: Encoding;
}

/** What is used of a module of gpt-tokenizer. */
interface Tokenizer {
  readonly countTokens: (text: string, options: { readonly disallowedSpecial: Set<string> }) => number;
}

/** A vocabulary takes up to 300 ms and 60 MB: each is loaded when it is first asked for. */
const LOADERS: Readonly<Record<Encoding, () => Promise<Tokenizer>>> = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
  o200k_harmony: () => import('gpt-tokenizer/encoding/o200k_harmony'),
  p50k_base: () => import('gpt-tokenizer/encoding/p50k_base'),
  r50k_base: () => import('gpt-tokenizer/encoding/r50k_base'),
};

/**
 * Counts tokens. Texts that look like special tokens, such as `<|endoftext|>`, count like any other text.
 *
 * @throws TypeError on an encoding that is none
 * @example
 * const { tokens, exact } = await countTokens('@a>req:find{q:cats}');
 */
export async function countTokens(text: string, encoding?: Encoding): Promise<TokenCount> {
  const chosen = resolveChoice('encoding', encoding, ENCODINGS);
  const tokenizer = await load(chosen);
  if (tokenizer === null) return { tokens: estimateTokens(text), exact: false, encoding: chosen };
  return { tokens: tokenizer.countTokens(text, { disallowedSpecial: new Set() }), exact: true, encoding: chosen };
}

/** Null where the package is not installed. */
async function load(encoding: Encoding): Promise<Tokenizer | null> {
  try {
    return await LOADERS[encoding]();
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return null;
    throw thrown;
  }
}
