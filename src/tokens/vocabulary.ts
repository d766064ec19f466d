/** The vocabularies of the package gpt-tokenizer. */
import type { Encoding } from './counter.js';

/** The ranks and the splitting pattern of one encoding. */
export interface Vocabulary {
  /** Returns the rank of a token. */
  readonly rankOf: RankOf;
  /** The global pattern that splits a text into adjacent pieces. */
  readonly pattern: RegExp;
  /** The behaviour of the pattern for ASCII; `null` if unknown. */
  readonly splitting: { readonly cased: boolean } | null;
}

/** Tokens by rank: texts, or bytes that are not UTF-8. Some arrays are sparse. */
type Tokens = readonly (string | readonly number[])[];

type PatternName = 'O200K_TOKEN_SPLIT_REGEX' | 'CL100K_TOKEN_SPLIT_REGEX' | 'R50K_TOKEN_SPLIT_REGEX';
type Patterns = Readonly<Record<PatternName, RegExp>>;

interface Source {
  readonly pattern: PatternName;
  readonly splitting: Vocabulary['splitting'];
}

/** Also used for o200k_harmony, which differs in special tokens only. */
const O200K: Source = { pattern: 'O200K_TOKEN_SPLIT_REGEX', splitting: { cased: true } };

const SOURCES: Readonly<Record<Encoding, Source>> = {
  o200k_base: O200K,
  o200k_harmony: O200K,
  cl100k_base: { pattern: 'CL100K_TOKEN_SPLIT_REGEX', splitting: { cased: false } },
  p50k_base: { pattern: 'R50K_TOKEN_SPLIT_REGEX', splitting: null },
  r50k_base: { pattern: 'R50K_TOKEN_SPLIT_REGEX', splitting: null },
};

/** Requires the vocabulary `o200k_base`. @returns `null` if the package is not installed */
export function requireVocabulary(require: (name: string) => unknown): Vocabulary | null {
  try {
    const ranks = require('gpt-tokenizer/bpeRanks/o200k_base') as { readonly default: Tokens };
    return vocabularyOf('o200k_base', ranks, require('gpt-tokenizer/encodingParams/constants') as Patterns);
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code === 'MODULE_NOT_FOUND') return null;
    throw thrown;
  }
}

/** Creates a vocabulary from the data of the package. */
export function vocabularyOf(encoding: Encoding, ranks: { readonly default: Tokens }, patterns: Patterns): Vocabulary {
  const { pattern, splitting } = SOURCES[encoding];
  return { rankOf: ranksOf(ranks.default), pattern: asInRust(patterns[pattern]), splitting };
}

/**
 * Converts a pattern to the semantics of Rust, as in tiktoken: white space is White_Space, with U+0085 and without U+FEFF; `(?i:'s)` matches
 * the long s (U+017F).
 */
function asInRust({ source, flags }: RegExp): RegExp {
  const inRust = source
    .replaceAll('\\s', '\\p{White_Space}')
    .replaceAll('\\S', '\\P{White_Space}')
    .replaceAll('[sS]', '[sS\u017f]');
  return new RegExp(inRust, flags);
}

/** Returns a lookup of ranks. ASCII texts equal their bytes; the bytes of others are computed on first use. */
function ranksOf(tokens: Tokens): RankOf {
  const ascii = new Map<string, number>();
  let others: Map<string, number> | undefined;
  tokens.forEach((token, rank) => {
    if (typeof token === 'string' && isAscii(token)) ascii.set(token, rank);
  });
  return (bytes) => {
    const rank = ascii.get(bytes);
    if (rank !== undefined || isAscii(bytes)) return rank;
    others ??= otherRanks(tokens);
    return others.get(bytes);
  };
}

function otherRanks(tokens: Tokens): Map<string, number> {
  const ranks = new Map<string, number>();
  tokens.forEach((token, rank) => {
    if (typeof token !== 'string') ranks.set(bytesOf(Uint8Array.from(token)), rank);
    else if (!isAscii(token)) ranks.set(utf8Bytes(token), rank);
  });
  return ranks;
}

const encoder = new TextEncoder();

/** Returns the UTF-8 bytes of a text, as one character each. */
export function utf8Bytes(text: string): string {
  return isAscii(text) ? text : bytesOf(encoder.encode(text));
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

function bytesOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** A function that returns the rank of a token, given as bytes, one character each. */
type RankOf = (bytes: string) => number | undefined;

/** Heap entries are rank * POSITIONS + position, so that they are ordered by rank, then position. */
const POSITIONS = 2 ** 32;

/**
 * Counts the tokens of a piece: repeatedly merges the leftmost pair of the lowest rank. With a heap, this takes near-linear time; tokenizer
 * packages take hours for a million letters without a space.
 */
export function countMerged(bytes: string, rankOf: RankOf): number {
  const { length } = bytes;
  if (length < 2 || rankOf(bytes) !== undefined) return Math.min(length, 1);
  // `ends` has the end of the part that starts at an index, or 0; `before` has the start of the part to its left, plus one.
  const ends = new Uint32Array(length);
  const before = new Uint32Array(length);
  const heap = createHeap(2 * length);
  // The rank of a part merged with the next one; it differs from outdated heap entries.
  const ranks = new Float64Array(length).fill(Number.POSITIVE_INFINITY);

  const propose = (start: number): void => {
    const middle = ends[start]!;
    const rank = middle < length ? rankOf(bytes.slice(start, ends[middle]!)) : undefined;
    ranks[start] = rank ?? Number.POSITIVE_INFINITY;
    if (rank !== undefined) heap.push(rank * POSITIONS + start);
  };

  for (let index = 0; index < length; index++) {
    ends[index] = index + 1;
    before[index] = index;
  }
  for (let index = 0; index < length; index++) propose(index);

  let parts = length;
  for (let best = heap.pop(); best !== undefined; best = heap.pop()) {
    const rank = Math.floor(best / POSITIONS);
    const start = best - rank * POSITIONS;
    if (ranks[start] !== rank) continue;
    const middle = ends[start]!;
    const end = ends[middle]!;
    ends[start] = end;
    ends[middle] = 0;
    ranks[middle] = Number.POSITIVE_INFINITY;
    if (end < length) before[end] = start + 1;
    parts--;
    propose(start);
    const left = before[start]!;
    if (left > 0) propose(left - 1);
  }
  return parts;
}

function createHeap(capacity: number) {
  let items = new Float64Array(capacity);
  let size = 0;
  return {
    push(item: number): void {
      if (size === items.length) {
        const larger = new Float64Array(2 * size);
        larger.set(items);
        items = larger;
      }
      let at = size++;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        if (items[parent]! <= item) break;
        items[at] = items[parent]!;
        at = parent;
      }
      items[at] = item;
    },
    pop(): number | undefined {
      if (size === 0) return undefined;
      const top = items[0]!;
      const last = items[--size]!;
      let at = 0;
      for (let child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && items[child + 1]! < items[child]!) child++;
        if (items[child]! >= last) break;
        items[at] = items[child]!;
        at = child;
      }
      items[at] = last;
      return top;
    },
  };
}
