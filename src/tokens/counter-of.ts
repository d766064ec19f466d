/** Exact counting by a vocabulary, in time proportional to the length of a text. */
import { createAsciiCounter } from './ascii-counter.js';
import type { TokenCounter } from './counter.js';
import type { Encoding } from './encodings.js';
import { countMerged } from './merge.js';
import { utf8Bytes, type Vocabulary } from './vocabulary.js';

/** Short pieces of text whose counts are kept. When there are more, all are dropped. */
const MAX_PIECES = 8192;
const MAX_PIECE = 64;

/** The counter of a vocabulary. */
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
