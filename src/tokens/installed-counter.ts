import { createAsciiCounter } from './ascii-counter.js';
import { type Encoding, ESTIMATING_COUNTER, type TokenCounter } from './counter.js';
import { countMerged, requireVocabulary, utf8Bytes, type Vocabulary } from './vocabulary.js';

let loaded: TokenCounter | null = null;

export function keepCounter(counter: TokenCounter): void {
  loaded = counter;
}

/**
 * Returns a counter for current models (`o200k_base`) at once: the exact one if it is loaded or can be required (Node 20.16
 * or later; up to 200 ms the first time), else an estimate. To be sure, use {@link loadTokenCounter}.
 */
export function installedCounter(): TokenCounter {
  return loaded ?? requireCounter() ?? ESTIMATING_COUNTER;
}

interface NodeGlobal {
  readonly process?: {
    readonly getBuiltinModule?: (name: 'node:module') => { createRequire(from: string): (name: string) => unknown };
  };
}

/** Tried once. */
let required: TokenCounter | null | undefined;

function requireCounter(): TokenCounter | null {
  if (required !== undefined) return required;
  // No import of the built-in, since browsers run this file.
  const module = (globalThis as NodeGlobal).process?.getBuiltinModule?.('node:module');
  const vocabulary = module === undefined ? null : requireVocabulary(module.createRequire(import.meta.url));
  required = vocabulary === null ? null : counterOf(vocabulary, 'o200k_base');
  return required;
}

/** Most cached pieces; the cache is then cleared. */
const MAX_PIECES = 8192;
const MAX_PIECE = 64;

export function counterOf(vocabulary: Vocabulary, encoding: Encoding): TokenCounter {
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
