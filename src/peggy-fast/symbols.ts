/**
 * Sets of symbols. A symbol is what one element of the scanned buffer holds: an ASCII code, the number of a kind of other
 * code units (see alphabet.ts), or the mark of the end. All fit into a byte, and a set of them into a bigint of 256 bits.
 */
export type SymbolSet = bigint;

/** Symbols in all. */
export const SYMBOLS = 256;
/** What stands behind the last symbol of the input. No node ever matches it. */
export const END = 255;

export const NONE: SymbolSet = 0n;
/** Every symbol that an input can hold. */
export const ANY: SymbolSet = (1n << BigInt(END)) - 1n;

export function setOf(symbol: number): SymbolSet {
  return 1n << BigInt(symbol);
}

export function has(set: SymbolSet, symbol: number): boolean {
  return ((set >> BigInt(symbol)) & 1n) === 1n;
}

export function isSubset(inner: SymbolSet, outer: SymbolSet): boolean {
  return (inner & ~outer) === 0n;
}

export function without(set: SymbolSet, other: SymbolSet): SymbolSet {
  return set & ~other;
}

/** The set as runs of neighbouring symbols, both ends included. */
export function rangesOf(set: SymbolSet): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (let symbol = 0; symbol < SYMBOLS; symbol++) {
    if (!has(set, symbol)) continue;
    const last = ranges.at(-1);
    if (last?.[1] === symbol - 1) last[1] = symbol;
    else ranges.push([symbol, symbol]);
  }
  return ranges;
}
