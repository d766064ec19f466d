import { resolveChoice } from '../text/limits.js';
import { ENCODINGS, type Encoding, ESTIMATING_COUNTER, type TokenCounter } from './counter.js';
import { counterOf, keepCounter } from './installed-counter.js';
import { type Vocabulary, vocabularyOf } from './vocabulary.js';

/** The loaded counters, one per vocabulary, which takes tens of megabytes. */
const loaded = new Map<Encoding, Promise<TokenCounter>>();

/**
 * Loads an exact counter, which takes near-linear time. Special tokens, such as `<|endoftext|>`, count as ordinary text. The classes of recent
 * Unicode characters are those of the JavaScript engine.
 *
 * @returns the counter; one of estimates (`exact: false`) if the package gpt-tokenizer is not installed
 * @throws TypeError if the encoding is unknown
 * @example
 * const counter = await loadTokenCounter();
 * counter.count('@a>req:find{q:cats}');
 */
export async function loadTokenCounter(encoding?: Encoding): Promise<TokenCounter> {
  const chosen = resolveChoice('encoding', encoding, ENCODINGS);
  let counter = loaded.get(chosen);
  if (counter === undefined) {
    counter = load(chosen);
    loaded.set(chosen, counter);
    // A failed load can be retried.
    counter.catch(() => loaded.delete(chosen));
  }
  return counter;
}

async function load(encoding: Encoding): Promise<TokenCounter> {
  // This vocabulary differs in special tokens only.
  if (encoding === 'o200k_harmony') {
    const counter = await loadTokenCounter('o200k_base');
    return counter.exact ? { ...counter, encoding } : counter;
  }
  const vocabulary = await loadVocabulary(encoding);
  if (vocabulary === null) return ESTIMATING_COUNTER;
  const counter = counterOf(vocabulary, encoding);
  if (encoding === 'o200k_base') keepCounter(counter);
  return counter;
}

/** Loads a vocabulary, which takes up to 200 ms and 30 MB. @returns `null` if the package is not installed */
async function loadVocabulary(encoding: Encoding): Promise<Vocabulary | null> {
  try {
    const [ranks, patterns] = await Promise.all([ranksOf(encoding), import('gpt-tokenizer/encodingParams/constants')]);
    return vocabularyOf(encoding, ranks, patterns);
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return null;
    throw thrown;
  }
}

/** Imports a table of ranks, by literal names, so that bundlers find the files. */
function ranksOf(encoding: Encoding) {
  switch (encoding) {
    case 'o200k_base':
    case 'o200k_harmony':
      return import('gpt-tokenizer/bpeRanks/o200k_base');
    case 'cl100k_base':
      return import('gpt-tokenizer/bpeRanks/cl100k_base');
    case 'p50k_base':
      return import('gpt-tokenizer/bpeRanks/p50k_base');
    case 'r50k_base':
      return import('gpt-tokenizer/bpeRanks/r50k_base');
  }
}

export { ENCODINGS, type Encoding };

/** The result of {@link countTokens}. */
export interface TokenCount {
  /** The number of tokens. */
  readonly tokens: number;
  /** `false` if the number is an estimate, because the package gpt-tokenizer is not installed. */
  readonly exact: boolean;
  /** The name of the vocabulary that it counts with. */
  readonly encoding: Encoding;
}

/**
 * Counts the tokens of a text. Special tokens, such as `<|endoftext|>`, count as ordinary text.
 *
 * @throws TypeError if the encoding is unknown
 * @example
 * const { tokens, exact } = await countTokens('@a>req:find{q:cats}');
 */
export async function countTokens(text: string, encoding?: Encoding): Promise<TokenCount> {
  const chosen = resolveChoice('encoding', encoding, ENCODINGS);
  const { count, exact } = await loadTokenCounter(chosen);
  return { tokens: count(text), exact, encoding: chosen };
}
