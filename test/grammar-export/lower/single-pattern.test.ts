/** Grammars as one pattern. */
import { expect, test } from 'vitest';
import { asSinglePattern, isRegular } from '../../../src/grammar-export/simplify.js';
import { pairOf } from './compare.js';
import { show } from './show.js';

test('rules are written out where they are used', () => {
  const { grammar } = pairOf('a = b ":" c+\nb = [a-z] c\nc = "x" / d\nd = "y" "z"');
  expect(isRegular(grammar)).toBe(true);
  expect(show(asSinglePattern(grammar)!)).toBe('[a-z] ("x" / "yz") ":" ("x" / "yz")+');
});

test('a rule that leads to itself cannot be written out', () => {
  const { grammar } = pairOf('a = "(" b ")"\nb = a?');
  expect(isRegular(grammar)).toBe(false);
  expect(asSinglePattern(grammar)).toBeNull();
});

test('with its nesting limited, it can', () => {
  const { grammar } = pairOf('a = "(" a? ")"', { depth: [{ rules: ['a'], max: 2 }] });
  expect(show(asSinglePattern(grammar)!)).toBe('"(" "()"? ")"');
});

test('what would be far too long is no pattern', () => {
  const doubling = Array.from({ length: 24 }, (_, index) => `a${index} = "(" a${index + 1} "," a${index + 1} ")"`);
  const { grammar } = pairOf(`${doubling.join('\n')}\na24 = "x"`);
  expect(isRegular(grammar)).toBe(true);
  expect(asSinglePattern(grammar)).toBeNull();
});
