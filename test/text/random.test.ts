import { describe, expect, test } from 'vitest';
import { createRandom } from '../../src/text/random.js';

describe('random numbers', () => {
  test('are reproducible for a seed, and different for another', () => {
    const draw = (seed: number): number[] => {
      const random = createRandom(seed);
      return Array.from({ length: 20 }, () => random.integer(0, 999));
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  test('include both bounds, and nothing beyond them', () => {
    const random = createRandom(3);
    const drawn = new Set(Array.from({ length: 500 }, () => random.integer(-1, 2)));
    expect([...drawn].sort((a, b) => a - b)).toEqual([-1, 0, 1, 2]);
  });

  test('are sampled without repetition', () => {
    const list = [...'abcdefgh'];
    const sample = createRandom(4).sample(list, 5);
    expect(new Set(sample).size).toBe(5);
    expect(createRandom(4).sample(list, 20).toSorted()).toEqual(list);
    expect(list.join('')).toBe('abcdefgh');
  });
});
