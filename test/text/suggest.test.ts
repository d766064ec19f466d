import { describe, expect, test } from 'vitest';
import { nearest } from '../../src/text/suggest.js';

const TASKS = ['FETCH', 'PROC', 'FLAG', 'RESOLVE', 'LOG', 'SEND', 'REPORT'];

describe('the nearest word', () => {
  test.each([
    ['FECH', 'FETCH', 'a missing letter'],
    ['FETTCH', 'FETCH', 'an extra letter'],
    ['FATCH', 'FETCH', 'a different letter'],
    ['FETHC', 'FETCH', 'swapped neighbours'],
    ['fetch', 'FETCH', 'a different case'],
    ['REPROT', 'REPORT', 'swapped neighbours in a longer word'],
    ['RESOLVED', 'RESOLVE', 'an inflected form'],
    ['LOGG', 'LOG', 'a short word with one change'],
    ['PROC', 'PROC', 'the word itself'],
  ])('%s is near %s: %s', (word, expected) => {
    expect(nearest(word, TASKS)).toBe(expected);
  });

  test('of two candidates is the nearer one, or the first if both are equally near', () => {
    expect(nearest('tone', ['done', 'tones', 'tone'])).toBe('tone');
    expect(nearest('bat', ['cat', 'rat'])).toBe('cat');
  });

  test('differs in at most a third of the word or one character, but not from a single letter', () => {
    expect(nearest('abcdef', ['xycdef'])).toBe('xycdef');
    expect(nearest('abcdef', ['xyzdef'])).toBeUndefined();
    expect(nearest('ab', ['ac'])).toBe('ac');
    // Every single letter would be near to every other.
    expect(nearest('a', ['b'])).toBeUndefined();
    expect(nearest('ab', ['xy'])).toBeUndefined();
  });
});

test.each([
  ['nothing', ''],
  ['a word unlike all candidates', 'DELETE_ALL'],
  ['a word that is too long', `FETCH${'H'.repeat(60)}`],
])('%s is near nothing', (_name, word) => {
  expect(nearest(word, TASKS)).toBeUndefined();
});

test('without candidates nothing is near', () => {
  expect(nearest('FETCH', [])).toBeUndefined();
});
