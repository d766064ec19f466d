import { createAsciiCounter } from './ascii-counter.js';
import { type Encoding, ESTIMATING_COUNTER, type TokenCounter } from './counter.js';
import { countMerged, requireVocabulary, utf8Bytes, type Vocabulary } from './vocabulary.js';

let loaded: TokenCounter | null = null;

/** Stores the loaded counter for {@link installedCounter}. */
export function keepCounter(counter: TokenCounter): void {
  loaded = counter;
}

/**
 * Returns a counter for current models (`o200k_base`) synchronously: an exact one if it is loaded or can be required (Node 20.16 or later;
 * takes up to 200 ms the first time), otherwise one of estimates. {@link loadTokenCounter} also works in other environments.
 */
export function installedCounter(): TokenCounter {
  return loaded ?? requireCounter() ?? ESTIMATING_COUNTER;
}

interface NodeGlobal {
  readonly process?: {
    readonly getBuiltinModule?: (name: 'node:module') => { createRequire(from: string): (name: string) => unknown };
  };
}

/** The result of the only attempt to require the vocabulary. */
let required: TokenCounter | null | undefined;

function requireCounter(): TokenCounter | null {
  if (required !== undefined) return required;
  // Without an import of the built-in module, since this file also runs in browsers.
  const module = (globalThis as NodeGlobal).process?.getBuiltinModule?.('node:module');
  const vocabulary = module === undefined ? null : requireVocabulary(module.createRequire(import.meta.url));
  required = vocabulary === null ? null : counterOf(vocabulary, 'o200k_base');
  return required;
}

/** The maximum number of cached pieces, at which the cache is cleared. */
const MAX_PIECES = 8192;
/** The maximum length of a cached piece. */
const MAX_PIECE = 64;

/** Creates a counter from a vocabulary. */
export function counterOf(vocabulary: Vocabulary, encoding: Encoding): TokenCounter {
  return { count: createCount(vocabulary), exact: true, encoding, splitsAtSymbols: true };
}

function createCount({ rankOf, pattern, splitting }: Vocabulary): TokenCounter['count'] {
  const cache = new Map<string, number>();

  function countPiece(piece: string): number {
    if (piece.length > MAX_PIECE) return countMerged(utf8Bytes(piece), rankOf);
    const counted = cache.get(piece);
    if (counted !== undefined) return counted;
    const tokens = countMerged(utf8Bytes(piece), rankOf);
    if (cache.size >= MAX_PIECES) cache.clear();
    cache.set(piece, tokens);
    return tokens;
  }

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
