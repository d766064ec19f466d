/** Patterns between slashes: the part of the notation that JavaScript, Python and Rust have in common. */
import { bracketed, isPrintable, type Notation, suffix, unicodeEscape } from './notation.js';

const SPECIAL = /[\^$\\.*+?()[\]{}|/]/;
const SPECIAL_IN_SETS = /[[\]\\^\-/]/;

/**
 * For patterns without references. Punctuation is escaped with a backslash, never by its code.
 *
 * @param beyond writes a character beyond U+FFFF, given its digits in hexadecimal
 */
export function regexNotation(beyond: (digits: string) => string): Notation {
  const escaped = (codePoint: number, special: RegExp): string => {
    const character = String.fromCodePoint(codePoint);
    if (isPrintable(codePoint)) return special.test(character) ? `\\${character}` : character;
    if (codePoint < 0x80) return `\\x${codePoint.toString(16).toUpperCase().padStart(2, '0')}`;
    return unicodeEscape(codePoint, beyond);
  };
  return {
    literal: (text) => [...text].map((character) => escaped(character.codePointAt(0)!, SPECIAL)).join(''),
    set: (ranges) => {
      const [only] = ranges;
      const single = ranges.length === 1 && only !== undefined && only[0] === only[1];
      return single ? escaped(only[0], SPECIAL) : bracketed(ranges, (codePoint) => escaped(codePoint, SPECIAL_IN_SETS));
    },
    rule: (name) => {
      throw new TypeError(`The rule ${name} is not written out`);
    },
    repeat: (item, min, max) => item + suffix(min, max),
    or: '|',
    join: '',
    open: '(?:',
    empty: '',
    repeatsLiterals: false,
  };
}
