/** Sets of code points, as ascending ranges with gaps between them. */
import { joined } from './case-variants.js';
import type { CodePointRange } from './context-free.js';

export type Ranges = readonly CodePointRange[];

/** The halves of UTF-16 pairs, which are no characters by themselves. */
export const SURROGATES: CodePointRange = [0xd800, 0xdfff];

/** The first halves of pairs, and the second. */
export const HIGH_HALVES: CodePointRange = [0xd800, 0xdbff];
export const LOW_HALVES: CodePointRange = [0xdc00, 0xdfff];

/** All code points that are characters. */
export const CHARACTERS: Ranges = [
  [0, 0xd7ff],
  [0xe000, 0x10ffff],
];

/** The last code unit. */
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

/** What is between `0` and `last` and not in the set. */
export function complementOf(ranges: Ranges, last: number): Ranges {
  const gaps: CodePointRange[] = [];
  let from = 0;
  for (const range of ranges) {
    if (range[0] > last) break;
    if (range[0] > from) gaps.push([from, range[0] - 1]);
    from = range[1] + 1;
  }
  if (from <= last) gaps.push([from, last]);
  return gaps;
}

export function differenceOf(a: Ranges, b: Ranges): Ranges {
  return intersectionOf(a, complementOf(b, LAST_CODE_POINT));
}
