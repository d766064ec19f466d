/** Exact counting, at once and fast, once a vocabulary is loaded. */
import { resolveChoice } from '../text/choice.js';
import { createAsciiCounter } from './ascii-counter.js';
import { ESTIMATING_COUNTER, type TokenCounter } from './counter.js';
import { ENCODINGS, type Encoding } from './encodings.js';
import { countMerged } from './merge.js';
import { loadVocabulary, utf8Bytes, type Vocabulary } from './vocabulary.js';

/** A vocabulary takes tens of megabytes: there is one counter of each. */
const loaded = new Map<Encoding, Promise<TokenCounter>>();

/**
 * Loads a counter, which then counts without waiting: exactly, in time proportional to the length of a text (and little more
 * where millions of characters stand without a space). A text that looks like a special token, such as `<|endoftext|>`,
 * counts like any other.
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
  return vocabulary === null ? ESTIMATING_COUNTER : { count: counting(vocabulary), exact: true, encoding };
}

/** Short pieces of text whose counts are kept. When there are more, all are dropped. */
const MAX_PIECES = 8192;
const MAX_PIECE = 64;

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
