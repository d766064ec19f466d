import { describe, expect, test } from 'vitest';
import { countMerged } from '../../src/tokens/vocabulary.js';

/** Creates a vocabulary of the given tokens, in order of rank, that counts its lookups. */
function vocabulary(...tokens: readonly string[]): {
  rankOf: (bytes: string) => number | undefined;
  lookups: () => number;
} {
  const ranks = new Map(tokens.map((token, rank) => [token, rank]));
  let lookups = 0;
  return {
    rankOf: (bytes) => {
      lookups++;
      return ranks.get(bytes);
    },
    lookups: () => lookups,
  };
}

describe('merging', () => {
  const cases: readonly (readonly [text: string, tokens: readonly string[], count: number])[] = [
    ['', [], 0],
    ['a', [], 1],
    ['abc', [], 3],
    ['abc', ['ab'], 2],
    ['abc', ['bc', 'ab'], 2],
    // The lower rank is merged first.
    ['abcd', ['bc', 'ab', 'cd', 'abcd'], 1],
    ['xabcd', ['bc', 'ab', 'cd', 'abcd'], 4],
    // The leftmost of equal ranks is merged first.
    ['aaa', ['aa'], 2],
    ['aaaa', ['aa', 'aaaa'], 1],
    ['baaaa', ['aa', 'aaaa'], 2],
    // A merged part is looked up with both neighbours.
    ['xabcy', ['ab', 'abc', 'xabc', 'bc'], 2],
  ];

  test.each(cases)('%j with %j is %i tokens', (text, tokens, count) => {
    expect(countMerged(text, vocabulary(...tokens).rankOf)).toBe(count);
  });

  test('looks up at most three pairs per byte', () => {
    const tokens = ['ab', 'abab', 'abababab', 'ba'];
    for (const length of [1000, 100_000]) {
      const { rankOf, lookups } = vocabulary(...tokens);
      expect(countMerged('ab'.repeat(length / 2), rankOf)).toBe(length / 8);
      expect(lookups()).toBeLessThanOrEqual(3 * length + 1);
    }
  });
});
