import { describe, expect, test } from 'vitest';
import { geometricMean, quantile, spreadOf } from '../../src/bench/statistics.js';
import { createRandom } from '../../src/text/random.js';

describe('quantiles', () => {
  test('of an odd number of values are values', () => {
    expect(spreadOf([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
  });

  test('lie between two values in proportion', () => {
    expect(spreadOf([1, 2, 3, 4])).toEqual({ median: 2.5, low: 1.75, high: 3.25 });
    expect(quantile([10, 20], 0.9)).toBeCloseTo(19);
  });

  test('of one value are that value', () => {
    expect(spreadOf([7])).toEqual({ median: 7, low: 7, high: 7 });
  });

  test('order numbers as numbers', () => {
    expect(spreadOf([100, 9, 20]).median).toBe(20);
  });

  test('do not move for one outlier, and leave the list as it is', () => {
    const values = [2, 2, 2, 2, 1000];
    expect(spreadOf(values)).toEqual({ median: 2, low: 2, high: 2 });
    expect(values).toEqual([2, 2, 2, 2, 1000]);
  });

  test('of nothing do not exist', () => {
    expect(() => spreadOf([])).toThrow(RangeError);
    expect(() => geometricMean([])).toThrow(RangeError);
  });
});

test('the mean of twice and half as fast is the same speed', () => {
  expect(geometricMean([2, 0.5])).toBeCloseTo(1);
  expect(geometricMean([4, 1])).toBeCloseTo(2);
});

describe('random numbers', () => {
  test('are the same for a seed, and others for another', () => {
    const draw = (seed: number): number[] => {
      const random = createRandom(seed);
      return Array.from({ length: 20 }, () => random.integer(0, 999));
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  test('keep their bounds and reach both', () => {
    const random = createRandom(3);
    const drawn = new Set(Array.from({ length: 500 }, () => random.integer(-1, 2)));
    expect([...drawn].sort((a, b) => a - b)).toEqual([-1, 0, 1, 2]);
  });

  test('sample without repetition', () => {
    const list = [...'abcdefgh'];
    const sample = createRandom(4).sample(list, 5);
    expect(new Set(sample).size).toBe(5);
    expect(createRandom(4).sample(list, 20).toSorted()).toEqual(list);
    expect(list.join('')).toBe('abcdefgh');
  });
});
