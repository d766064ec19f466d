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

/** The code units at which membership of a set changes, in order. The first one begins the set. */
type Members = readonly number[];

/** @throws TooManyKinds if a byte cannot number the kinds of characters */
export function alphabetOf(classes: readonly ast.CharacterClass[], strings: readonly ast.Literal[]): Alphabet {
  const members = new Map<string, Members>();
  const add = (key: string, find: () => Members): void => {
    if (!members.has(key)) members.set(key, find());
  };
  for (const node of classes) add(keyOfClass(node), () => membersOf(node));
  for (const { value, ignoreCase } of strings) {
    for (const character of value.split('')) {
      const lower = character.toLowerCase();
      const code = character.charCodeAt(0);
      if (ignoreCase) add(`folded ${lower}`, () => pointsOf((foldedTo().get(lower) ?? []).map((unit) => [unit, unit])));
      else if (code >= ASCII) add(`one ${code}`, () => [code, code + 1]);
    }
  }
  if (classes.some(({ unicode }) => unicode)) add('surrogates', () => [0xd800, 0xe000]);
  const kinds = kindsOf([...members.values()]);
  const symbolOf = (unit: number): number => (unit < ASCII ? unit : kinds[findKind(kinds, unit)]!.symbol);

  const sets = new Map<string, SymbolSet>();
  for (const [key, points] of members) {
    let set = 0n;
    for (let unit = 0; unit < ASCII; unit++) if (contains(points, unit)) set |= setOf(unit);
    for (const { from, symbol } of kinds) if (contains(points, from)) set |= setOf(symbol);
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

/** The members of a class. Ranges without escapes and without case are read from the grammar, which is faster than the pattern. */
function membersOf(node: ast.CharacterClass): Members {
  const { parts, inverted, ignoreCase } = node;
  const ranges = parts.flatMap((part) =>
    typeof part === 'string' ? [[part, part]] : Array.isArray(part) ? [part] : [],
  );
  const isPlain = ranges.length === parts.length && ranges.every((range) => range.every(({ length }) => length === 1));
  const pattern = patternOf(node);
  const isAscii = ranges.every((range) => range.every((one) => one.charCodeAt(0) < ASCII));
  if (!isPlain || (ignoreCase && (node.unicode || !isAscii))) return searched(pattern, CODE_UNITS);
  if (ignoreCase) {
    const found = searched(pattern, ASCII);
    return (found.length % 2 === 1) === inverted ? found : [...found, ASCII];
  }
  const points = pointsOf(ranges.map(([from, to]) => [from!.charCodeAt(0), to!.charCodeAt(0)]));
  if (!inverted) return points;
  return points[0] === 0 ? points.slice(1) : [0, ...points];
}

function searched(pattern: RegExp, end: number): Members {
  const points: number[] = [];
  for (let unit = 0; unit < end; unit++) {
    if (pattern.test(String.fromCharCode(unit)) !== (points.length % 2 === 1)) points.push(unit);
  }
  return points;
}

function pointsOf(ranges: readonly (readonly [from: number, to: number])[]): Members {
  const points: number[] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (to < from) continue;
    const end = points.at(-1);
    if (end === undefined || from > end) points.push(from, to + 1);
    else if (to + 1 > end) points[points.length - 1] = to + 1;
  }
  return points;
}

function contains(points: Members, unit: number): boolean {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle]! <= unit) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1;
}

let folded: Map<string, number[]> | undefined;

/** The code units of each lower case character, found once. */
function foldedTo(): ReadonlyMap<string, readonly number[]> {
  if (folded !== undefined) return folded;
  folded = new Map();
  for (let unit = 0; unit < CODE_UNITS; unit++) {
    const lower = String.fromCharCode(unit).toLowerCase();
    const known = folded.get(lower);
    if (known === undefined) folded.set(lower, [unit]);
    else known.push(unit);
  }
  return folded;
}

function kindsOf(members: readonly Members[]): Kind[] {
  const starts = new Set([ASCII, ...members.flat().filter((unit) => unit > ASCII && unit < CODE_UNITS)]);
  const symbols = new Map<string, number>();
  const ordered = [...starts].sort((a, b) => a - b);
  return ordered.map((from, index) => {
    const signature = members.map((points) => (contains(points, from) ? 1 : 0)).join('');
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
  // As text, the last digit is the first symbol.
  const bits = set.toString(2);
  for (let symbol = 0; symbol < bits.length; symbol++) {
    if (bits.charCodeAt(bits.length - 1 - symbol) === 48) continue;
    const last = ranges.at(-1);
    if (last?.[1] === symbol - 1) last[1] = symbol;
    else ranges.push([symbol, symbol]);
  }
  return ranges;
}
