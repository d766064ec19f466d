/** Exact counting, at once and fast, once a vocabulary is loaded. */
import { resolveChoice } from '../text/limits.js';
import { createAsciiCounter } from './ascii-counter.js';
import { ENCODINGS, type Encoding, ESTIMATING_COUNTER, type TokenCounter } from './counter.js';
import { countMerged, loadVocabulary, requireVocabulary, utf8Bytes, type Vocabulary } from './vocabulary.js';

/** A vocabulary takes tens of megabytes: there is one counter of each. */
const loaded = new Map<Encoding, Promise<TokenCounter>>();

/** The exact one for current models, once it is there. */
let current: TokenCounter | null = null;

/** The exact counter for current models (`o200k_base`), where it has been loaded; else `null`. */
function loadedCounter(): TokenCounter | null {
  return current;
}

/**
 * Loads a counter, which then counts without waiting: exactly, in time proportional to the length of a text (and little more
 * where millions of characters stand without a space). A text that looks like a special token, such as `<|endoftext|>`,
 * counts like any other. Letters that Unicode has added lately are split as this JavaScript engine knows them, which may be newer
 * than what tiktoken is built with.
 *
 * @returns a counter of estimates (`exact: false`) where the package gpt-tokenizer is not installed
 * @throws TypeError on an encoding that is none
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
    // What failed may go better the next time.
    counter.catch(() => loaded.delete(chosen));
  }
  return counter;
}

async function load(encoding: Encoding): Promise<TokenCounter> {
  // The same vocabulary under another name; only its special tokens differ.
  if (encoding === 'o200k_harmony') {
    const counter = await loadTokenCounter('o200k_base');
    return counter.exact ? { ...counter, encoding } : counter;
  }
  const vocabulary = await loadVocabulary(encoding);
  if (vocabulary === null) return ESTIMATING_COUNTER;
  const counter = counterOf(vocabulary, encoding);
  if (encoding === 'o200k_base') current = counter;
  return counter;
}

/** Short pieces of text whose counts are kept. When there are more, all are dropped. */
const MAX_PIECES = 8192;
const MAX_PIECE = 64;

function counterOf(vocabulary: Vocabulary, encoding: Encoding): TokenCounter {
  return { count: counting(vocabulary), exact: true, encoding };
}

function counting({ rankOf, pattern, splitting }: Vocabulary): TokenCounter['count'] {
  const known = new Map<string, number>();

  function countPiece(piece: string): number {
    if (piece.length > MAX_PIECE) return countMerged(utf8Bytes(piece), rankOf);
    const counted = known.get(piece);
    if (counted !== undefined) return counted;
    const tokens = countMerged(utf8Bytes(piece), rankOf);
    if (known.size >= MAX_PIECES) known.clear();
    known.set(piece, tokens);
    return tokens;
  }

  /** Any text, by the vocabulary's own pattern. */
  function countAny(text: string): number {
    let tokens = 0;
    let start = 0;
    pattern.lastIndex = 0;
    while (pattern.test(text)) {
      tokens += countPiece(text.slice(start, pattern.lastIndex));
      start = pattern.lastIndex;
    }
    return tokens;
  }

  if (splitting === null) return countAny;
  const countAscii = createAsciiCounter(splitting, (piece) => countMerged(piece, rankOf));
  return (text) => {
    const tokens = countAscii(text);
    return tokens < 0 ? countAny(text) : tokens;
  };
}

/**
 * A counter for current models (`o200k_base`) without waiting: the exact one where it is loaded already, or can be at once,
 * as Node can from version 20.16 on (that takes up to 200 ms, the first time); else one of estimates. For the choice of a
 * vocabulary, and to be sure, use {@link loadTokenCounter}.
 */
export function installedCounter(): TokenCounter {
  return loadedCounter() ?? requireCounter() ?? ESTIMATING_COUNTER;
}

/** What a Node that can load modules at once has in its global object. */
interface NodeGlobal {
  readonly process?: {
    readonly getBuiltinModule?: (name: 'node:module') => { createRequire(from: string): (name: string) => unknown };
  };
}

/** Tried once: where it is not installed now, it will not be later. */
let required: TokenCounter | null | undefined;

function requireCounter(): TokenCounter | null {
  if (required !== undefined) return required;
  // No import of the built-in: browsers run this file, too.
  const module = (globalThis as NodeGlobal).process?.getBuiltinModule?.('node:module');
  const vocabulary = module === undefined ? null : requireVocabulary(module.createRequire(import.meta.url));
  required = vocabulary === null ? null : counterOf(vocabulary, 'o200k_base');
  return required;
}

/** How many tokens a text is. */
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
