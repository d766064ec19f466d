import { describe, expect, test } from 'vitest';
import { ANY, END, has, isSubset, NONE, rangesOf, SYMBOLS, setOf, without } from '../../src/peggy-fast/alphabet.js';

describe('sets of symbols', () => {
  test('any symbol is every one except the end mark', () => {
    expect(rangesOf(ANY)).toEqual([[0, END - 1]]);
    expect(has(ANY, END)).toBe(false);
    expect(END).toBe(SYMBOLS - 1);
  });

  test('contain the first, the last and the added ones, and nothing else', () => {
    const set = setOf(0) | setOf(97) | setOf(END);
    expect([0, 97, END].every((symbol) => has(set, symbol))).toBe(true);
    expect([1, 96, 98, END - 1].some((symbol) => has(set, symbol))).toBe(false);
  });

  test('are shown as runs of neighbors', () => {
    expect(rangesOf(NONE)).toEqual([]);
    expect(rangesOf(setOf(5) | setOf(6) | setOf(7) | setOf(9) | setOf(END))).toEqual([
      [5, 7],
      [9, 9],
      [END, END],
    ]);
  });

  test('are compared and subtracted', () => {
    const both = setOf(1) | setOf(2);
    expect(isSubset(setOf(1), both)).toBe(true);
    expect(isSubset(both, setOf(1))).toBe(false);
    expect(isSubset(NONE, NONE)).toBe(true);
    expect(without(both, setOf(1))).toBe(setOf(2));
    expect(without(both, setOf(7))).toBe(both);
  });
});
