import { describe, expect, test } from 'vitest';
import { nearest } from '../../src/text/suggest.js';

const TASKS = ['FETCH', 'PROC', 'FLAG', 'RESOLVE', 'LOG', 'SEND', 'REPORT'];

describe('the nearest word', () => {
  test.each([
    ['FECH', 'FETCH', 'a missing letter'],
    ['FETTCH', 'FETCH', 'a letter too many'],
    ['FATCH', 'FETCH', 'another letter'],
    ['FETHC', 'FETCH', 'swapped neighbours'],
    ['fetch', 'FETCH', 'another case'],
    ['REPROT', 'REPORT', 'swapped neighbours in a longer word'],
    ['RESOLVED', 'RESOLVE', 'another form'],
    ['LOGG', 'LOG', 'a short word with one change'],
    ['PROC', 'PROC', 'the word itself'],
  ])('%s is near %s: %s', (word, expected) => {
    expect(nearest(word, TASKS)).toBe(expected);
  });

  test('the nearer of two wins, the first of two that are as near', () => {
    expect(nearest('tone', ['done', 'tones', 'tone'])).toBe('tone');
    expect(nearest('bat', ['cat', 'rat'])).toBe('cat');
  });

  test('a third of the word may change, and always one character, but not of a single letter', () => {
    expect(nearest('abcdef', ['xycdef'])).toBe('xycdef');
    expect(nearest('abcdef', ['xyzdef'])).toBeUndefined();
    expect(nearest('ab', ['ac'])).toBe('ac');
    // Any single letter would be near to any other.
    expect(nearest('a', ['b'])).toBeUndefined();
    expect(nearest('ab', ['xy'])).toBeUndefined();
  });
});

test.each([
  ['nothing', ''],
  ['a word unlike all others', 'DELETE_ALL'],
  ['a word too long for a slip', `FETCH${'H'.repeat(60)}`],
])('%s is near nothing', (_name, word) => {
  expect(nearest(word, TASKS)).toBeUndefined();
});

test('without candidates nothing is near', () => {
  expect(nearest('FETCH', [])).toBeUndefined();
});
