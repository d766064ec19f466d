/** Which character to write where a class allows many: mostly plain ones, and now and then the unusual ones that break readers. */
import type { ast } from 'peggy';
import type { Random } from '../../text/random.js';
import { type CharacterRange, holds, rangesOf } from '../grammar/classes.js';

const SURROGATES: CharacterRange = [0xd800, 0xdfff];
const PRINTABLE: CharacterRange = [0x20, 0x7e];

/** What readers stumble over: controls, blanks that are none, letters beyond ASCII, look-alikes, the last code unit. */
const UNUSUAL = [
  ...[0, 9, 10, 13, 0x1b, 0x7f, 0x80, 0xa0, 0xdf, 0xe9, 0x130, 0x301, 0x3c3, 0x430, 0x2028, 0x202e, 0xfeff, 0xff1a],
];

/** Emoji and what else lies beyond U+FFFF. */
const BEYOND = [0x10000, 0x1f600, 0x1d7d8, 0x10ffff];

/**
 * One character that the node matches, or null where there is none. Halves of surrogate pairs are left out: they are no characters.
 *
 * @param pairs whether a pair may stand there, of a class that matches the halves
 */
export function pickCharacter(node: ast.CharacterClass | ast.Any, random: Random, pairs: boolean): string | null {
  const ranges = rangesOf(node);
  if (ranges.length === 0) return null;
  const isWide = ranges.some(([first, last]) => first <= SURROGATES[0] && SURROGATES[1] <= last);
  if (isWide) {
    const turn = random.next();
    if (turn < 0.02 && pairs) return String.fromCodePoint(random.pick(BEYOND));
    if (turn < 0.06) {
      const unusual = random.pick(UNUSUAL);
      if (holds(ranges, unusual)) return String.fromCodePoint(unusual);
    }
    const plain = random.integer(...PRINTABLE);
    if (turn < 0.95 && holds(ranges, plain)) return String.fromCodePoint(plain);
  }
  return String.fromCodePoint(pickFrom(ranges, random));
}

/** Ranges in turn, so that a single character comes as often as a range; within one, its ends more often than their share. */
function pickFrom(ranges: readonly CharacterRange[], random: Random): number {
  for (let tries = 0; tries < 20; tries++) {
    const [first, last] = random.pick(ranges);
    const turn = random.next();
    const code = turn < 0.1 ? first : turn < 0.2 ? last : random.integer(first, last);
    if (!holds([SURROGATES], code)) return code;
  }
  return ranges[0]![0];
}
