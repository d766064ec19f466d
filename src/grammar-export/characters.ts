import { complementOf, joined } from '../fuzz/grammar/classes.js';
import { type CodePointRange, type Pattern, sequence } from './context-free.js';

/** Sets of code points, as ascending ranges that do not touch. */
export type Ranges = readonly CodePointRange[];

export const SURROGATES: CodePointRange = [0xd800, 0xdfff];

export const HIGH_HALVES: CodePointRange = [0xd800, 0xdbff];
export const LOW_HALVES: CodePointRange = [0xdc00, 0xdfff];

export const CHARACTERS: Ranges = [
  [0, 0xd7ff],
  [0xe000, 0x10ffff],
];

export const LAST_UNIT = 0xffff;

export const LAST_CODE_POINT = 0x10ffff;

export function unionOf(...sets: readonly Ranges[]): Ranges {
  return joined(sets.flat());
}

export function intersectionOf(a: Ranges, b: Ranges): Ranges {
  const found: CodePointRange[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const first = Math.max(a[i]![0], b[j]![0]);
    const last = Math.min(a[i]![1], b[j]![1]);
    if (first <= last) found.push([first, last]);
    if (a[i]![1] < b[j]![1]) i++;
    else j++;
  }
  return found;
}

export function differenceOf(a: Ranges, b: Ranges): Ranges {
  return intersectionOf(a, complementOf(b, LAST_CODE_POINT));
}

/** No letter beyond this one has case variants (Unicode 16: Adlam, U+1E943). */
const LAST_LETTER = 0x1ffff;

let upperCases: ReadonlyMap<number, readonly number[]> | undefined;

/** All code points that have the same lower case as `codePoint`, ascending. */
export function caseVariants(codePoint: number): readonly number[] {
  upperCases ??= collect();
  const lower = lowerCase(codePoint);
  return [lower, ...(upperCases.get(lower) ?? [])].sort((a, b) => a - b);
}

/** Sigmas. Their lower case depends on their neighbors. */
const SIGMA = /[\u03a3\u03c2\u03c3]/;

/** Returns `true` if Peggy matches a case-insensitive literal differently from the {@link caseVariants} of its characters. */
export function dependsOnContext(literal: string): boolean {
  return SIGMA.test(literal);
}

/**
 * Returns the characters that may match at each place of a case-insensitive literal. The lower case of a capital sigma
 * depends on the letters around it in the compared text alone.
 */
export function variantsInContext(literal: string): readonly (readonly number[])[] {
  const lower = literal.toLowerCase();
  let at = 0;
  return [...lower].map((character) => {
    const start = at;
    at += character.length;
    if (!SIGMA.test(character)) return caseVariants(character.codePointAt(0)!);
    const withCapital = `${lower.slice(0, start)}\u03a3${lower.slice(at)}`;
    const sigma = character.codePointAt(0)!;
    return withCapital.toLowerCase() === lower ? [0x03a3, sigma] : [sigma];
  });
}

/** Returns `true` if a case-insensitive class of one character matches other characters than the literal does. */
export function differsAsClass(character: string): boolean {
  const codePoint = character.codePointAt(0)!;
  // Beyond ASCII, a class may use the Unicode rules for case or not, depending on the other characters in it.
  return codePoint > 0x7f || caseVariants(codePoint).some((one) => one > 0x7f);
}

export function spelledOut(text: string): Pattern {
  return sequence(
    [...text].map((character) => {
      const variants = caseVariants(character.codePointAt(0)!);
      return { kind: 'set', ranges: joined(variants.map((one) => [one, one])) };
    }),
  );
}

function lowerCase(codePoint: number): number {
  const lower = String.fromCodePoint(codePoint).toLowerCase();
  const first = lower.codePointAt(0)!;
  // A character whose lower case is several characters is a letter of its own.
  return lower.length === (first > 0xffff ? 2 : 1) ? first : codePoint;
}

function collect(): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (let codePoint = 0; codePoint <= LAST_LETTER; codePoint++) {
    const lower = lowerCase(codePoint);
    if (lower !== codePoint) found.set(lower, [...(found.get(lower) ?? []), codePoint]);
  }
  return found;
}
