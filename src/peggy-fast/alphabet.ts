/**
 * Maps code units to symbols. ASCII characters are their own symbols; other code units share a symbol if no class of
 * the grammar distinguishes them. So a scanner compares bytes, whatever the input.
 */

import type { ast } from 'peggy';

const CODE_UNITS = 0x10000;
const ASCII = 0x80;

export interface Kind {
  readonly from: number;
  readonly to: number;
  readonly symbol: number;
}

export interface Alphabet {
  readonly kinds: readonly Kind[];
  classSet(node: ast.CharacterClass): SymbolSet;
  /** The symbols of the code units whose lower case is that character. */
  foldedSet(character: string): SymbolSet;
  symbolOf(codeUnit: number): number;
  readonly surrogates: SymbolSet;
}

/** The error thrown if the grammar distinguishes more kinds of characters than there are symbols. */
export class TooManyKinds extends Error {}

type Members = Uint8Array;

/** @throws TooManyKinds if a byte cannot number the kinds of characters */
export function alphabetOf(classes: readonly ast.CharacterClass[], strings: readonly ast.Literal[]): Alphabet {
  const members = new Map<string, Members>();
  const add = (key: string, test: (unit: number) => boolean): void => {
    if (!members.has(key)) members.set(key, flagged(test));
  };
  for (const node of classes) {
    const pattern = patternOf(node);
    add(keyOfClass(node), (unit) => pattern.test(String.fromCharCode(unit)));
  }
  for (const { value, ignoreCase } of strings) {
    for (const character of value.split('')) {
      const lower = character.toLowerCase();
      const code = character.charCodeAt(0);
      if (ignoreCase) add(`folded ${lower}`, (unit) => String.fromCharCode(unit).toLowerCase() === lower);
      else if (code >= ASCII) add(`one ${code}`, (unit) => unit === code);
    }
  }
  if (classes.some(({ unicode }) => unicode)) add('surrogates', (unit) => unit >= 0xd800 && unit <= 0xdfff);
  const kinds = kindsOf([...members.values()]);
  const symbolOf = (unit: number): number => (unit < ASCII ? unit : kinds[findKind(kinds, unit)]!.symbol);

  const sets = new Map<string, SymbolSet>();
  for (const [key, flags] of members) {
    let set = 0n;
    for (let unit = 0; unit < ASCII; unit++) if (flags[unit] === 1) set |= setOf(unit);
    for (const { from, symbol } of kinds) if (flags[from] === 1) set |= setOf(symbol);
    sets.set(key, set);
  }

  return {
    kinds,
    classSet: (node) => sets.get(keyOfClass(node))!,
    foldedSet: (character) => sets.get(`folded ${character.toLowerCase()}`)!,
    symbolOf,
    surrogates: sets.get('surrogates') ?? 0n,
  };
}

function flagged(test: (unit: number) => boolean): Members {
  const flags = new Uint8Array(CODE_UNITS);
  for (let unit = 0; unit < CODE_UNITS; unit++) if (test(unit)) flags[unit] = 1;
  return flags;
}

function kindsOf(members: readonly Members[]): Kind[] {
  const starts = new Set([ASCII]);
  for (const flags of members) {
    for (let unit = ASCII + 1; unit < CODE_UNITS; unit++) if (flags[unit] !== flags[unit - 1]) starts.add(unit);
  }
  const symbols = new Map<string, number>();
  const ordered = [...starts].sort((a, b) => a - b);
  return ordered.map((from, index) => {
    const signature = members.map((flags) => flags[from]).join('');
    const symbol = symbols.get(signature) ?? ASCII + symbols.size;
    if (symbol >= END) throw new TooManyKinds('the grammar distinguishes too many kinds of characters');
    symbols.set(signature, symbol);
    return { from, to: (ordered[index + 1] ?? CODE_UNITS) - 1, symbol };
  });
}

function findKind(kinds: readonly Kind[], unit: number): number {
  let low = 0;
  let high = kinds.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (kinds[middle]!.from <= unit) low = middle;
    else high = middle - 1;
  }
  return low;
}

function keyOfClass({ parts, inverted, ignoreCase, unicode }: ast.CharacterClass): string {
  return `class ${JSON.stringify([parts, inverted, ignoreCase, unicode])}`;
}

/** The regular expression that Peggy generates for a class. */
export function patternOf({ parts, inverted, ignoreCase, unicode }: ast.CharacterClass): RegExp {
  const escaped = (character: string): string =>
    unicode
      ? `\\u{${character.codePointAt(0)!.toString(16)}}`
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const inside = parts.map((part) => {
    if (typeof part === 'string') return escaped(part);
    if (Array.isArray(part)) return part.map(escaped).join('-');
    return `\\${part.value}`;
  });
  return new RegExp(`^[${inverted ? '^' : ''}${inside.join('')}]$`, `${ignoreCase ? 'i' : ''}${unicode ? 'u' : ''}s`);
}

/** A set of symbols, as a bigint of 256 bits. A symbol is an ASCII code, the number of a kind of other code units, or END. */
export type SymbolSet = bigint;

export const SYMBOLS = 256;
/** The symbol after the last symbol of the input. No node matches it. */
export const END = 255;

export const NONE: SymbolSet = 0n;
/** All symbols that an input can contain. */
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
