import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenCounter } from '../../src/tokens/counter.js';
import { loadTokenCounter } from '../../src/tokens/load-counter.js';
import { upperBoundTokens } from '../../src/tokens/upper-bound.js';
import { frameTexts } from '../helpers/accp-arbitraries.js';
import { runs } from '../helpers/runs.js';

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
const DIGITS = [...'0123456789'];

const texts = fc.oneof(
  fc.array(fc.constantFrom(...LETTERS), { maxLength: 30 }).map((list) => list.join('')),
  // Rare pairs, words split at an apostrophe, digits of other scripts.
  fc
    .array(fc.constantFrom(...'jqxzvwk', "'", 's', 'l', 'L', 'v', 'e', ' ', '¹', '١', ...DIGITS), { maxLength: 30 })
    .map((list) => list.join('')),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  frameTexts('lenient'),
);

describe.each(['o200k_base', 'cl100k_base', 'o200k_harmony'] as const)('in %s', (encoding) => {
  let counter: TokenCounter;
  beforeAll(async () => {
    counter = await loadTokenCounter(encoding);
  });

  test('no text has more tokens than its upper bound', () => {
    const property = fc.property(texts, (text) => {
      expect(counter.count(text), text).toBeLessThanOrEqual(upperBoundTokens(text));
    });
    fc.assert(property, runs(6000));
  });

  test('the table of letter pairs matches the vocabularies', () => {
    for (const first of LETTERS) {
      for (const second of LETTERS) {
        expect(counter.count(first + second), first + second).toBeLessThanOrEqual(upperBoundTokens(first + second));
      }
    }
  });

  test('every number of up to three digits is one token', () => {
    for (let number = 0; number < 1000; number++) expect(counter.count(String(number).padStart(3, '0'))).toBe(1);
  });
});

test.each([
  ['', 0],
  ['th', 1],
  ['the', 2],
  ['qz', 2],
  ['zqzqzq', 6],
  ['1234567', 3],
  ["it's", 4],
  ['é', 2],
  ['日本', 6],
  ['@a>b:c{}', 8],
])('the bound of %j is %i', (text, tokens) => {
  expect(upperBoundTokens(text)).toBe(tokens);
});
