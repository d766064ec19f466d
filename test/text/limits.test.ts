import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, type Limits, resolveChoice, resolveLimits } from '../../src/text/limits.js';

const NAMES = Object.keys(DEFAULT_LIMITS) as (keyof Limits)[];

describe('limits', () => {
  test('have defaults', () => {
    expect(resolveLimits({})).toEqual({ maxLength: 1_048_576, maxDepth: 5, maxItems: 100_000, maxDigits: 1_000 });
  });

  test.each(NAMES)('%s accepts a non-negative integer or Infinity; undefined is the default', (name) => {
    for (const value of [0, 7, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]) {
      expect(resolveLimits({ [name]: value })).toEqual({ ...DEFAULT_LIMITS, [name]: value });
    }
    expect(resolveLimits({ [name]: undefined })).toEqual(DEFAULT_LIMITS);
  });

  test.each(NAMES)('%s rejects anything else', (name) => {
    for (const value of [-1, 1.5, Number.NaN, Number.NEGATIVE_INFINITY, null, '5', true, 5n, {}]) {
      expect(() => resolveLimits({ [name]: value as number })).toThrow(TypeError);
      expect(() => resolveLimits({ [name]: value as number })).toThrow(`${name} must be a non-negative integer or Inf`);
    }
  });
});

describe('a choice', () => {
  const resolve = (value: unknown) => resolveChoice('dialect', value as 'strict', ['strict', 'tolerant']);

  test('is one of the given ones, the first by default', () => {
    expect(resolve('tolerant')).toBe('tolerant');
    expect(resolve(undefined)).toBe('strict');
  });

  test.each([
    ['Strict', "dialect must be one of strict, tolerant; got 'Strict'; did you mean 'strict'?"],
    ['tolerance', "dialect must be one of strict, tolerant; got 'tolerance'; did you mean 'tolerant'?"],
    ['sloppy', "dialect must be one of strict, tolerant; got 'sloppy'"],
    ['', "dialect must be one of strict, tolerant; got ''"],
    [null, "dialect must be one of strict, tolerant; got 'null'"],
    [1, "dialect must be one of strict, tolerant; got '1'"],
  ])('is rejected otherwise: %s', (value, message) => {
    expect(() => resolve(value)).toThrow(new TypeError(message));
  });
});
