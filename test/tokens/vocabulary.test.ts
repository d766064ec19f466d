import { describe, expect, test } from 'vitest';
import { countMerged } from '../../src/tokens/vocabulary.js';

/** A vocabulary of a few tokens, in the order of their ranks, and how often it was asked. */
function vocabulary(...tokens: readonly string[]): {
  rankOf: (bytes: string) => number | undefined;
  asked: () => number;
} {
  const ranks = new Map(tokens.map((token, rank) => [token, rank]));
  let asked = 0;
  return {
    rankOf: (bytes) => {
      asked++;
      return ranks.get(bytes);
    },
    asked: () => asked,
  };
}

describe('merging', () => {
  const cases: readonly (readonly [text: string, tokens: readonly string[], count: number])[] = [
    ['', [], 0],
    ['a', [], 1],
    ['abc', [], 3],
    ['abc', ['ab'], 2],
    ['abc', ['bc', 'ab'], 2],
    // The lower rank goes first, whatever could be joined later.
    ['abcd', ['bc', 'ab', 'cd', 'abcd'], 1],
    ['xabcd', ['bc', 'ab', 'cd', 'abcd'], 4],
    // Of equals, the one on the left.
    ['aaa', ['aa'], 2],
    ['aaaa', ['aa', 'aaaa'], 1],
    ['baaaa', ['aa', 'aaaa'], 2],
    // A joined part is looked at with both its neighbours.
    ['xabcy', ['ab', 'abc', 'xabc', 'bc'], 2],
  ];

  test.each(cases)('%j with %j is %i tokens', (text, tokens, count) => {
    expect(countMerged(text, vocabulary(...tokens).rankOf)).toBe(count);
  });

  test('asks for three pairs a byte at most, however long the piece is', () => {
    const tokens = ['ab', 'abab', 'abababab', 'ba'];
    for (const length of [1000, 100_000]) {
      const { rankOf, asked } = vocabulary(...tokens);
      expect(countMerged('ab'.repeat(length / 2), rankOf)).toBe(length / 8);
      expect(asked()).toBeLessThanOrEqual(3 * length + 1);
    }
  });
});
