/** Keywords as the reference SDK computes them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keywordsOf } from '../../../src/aacp/registry/exchange.js';
import normalise from '../../conformance/aacp/normalise.json' with { type: 'json' };
import stopWords from '../../conformance/aacp/stop-words.json' with { type: 'json' };

test.each(normalise.cases)('$id has the keywords of the reference', ({ english, keywords }) => {
  expect(keywordsOf(english)).toEqual(keywords);
});

test('no stop word is a keyword, and a similar word is one', () => {
  const words = stopWords.cases.flatMap(({ words }) => words);
  expect(words.length).toBe(66);
  expect(keywordsOf(words.join(' '))).toEqual([]);
  expect(keywordsOf(words.map((word) => `${word}xyz`).join(' '))).toHaveLength(66);
});

test.each([
  ['without surrounding punctuation', `("Salary"), [salary]; it's 'records'!?`, ['salary', "it's", 'records']],
  [
    'counted by characters',
    '\u{1F600}\u{1F600} \u{1F600}\u{1F600}\u{1F600}\u{1F600} abc abcd',
    ['\u{1F600}\u{1F600}\u{1F600}\u{1F600}', 'abcd'],
  ],
  ['nothing special', '__proto__ constructor toString', ['__proto__', 'constructor', 'tostring']],
  ['none in punctuation', '...... ((((()))))', []],
])('words are %s', (_what, instruction, keywords) => {
  expect(keywordsOf(instruction)).toEqual(keywords);
});

/** Parts of words, and the separators between words. */
const piece = fc.constantFrom(
  'a',
  'Zü',
  "'",
  '.',
  '(',
  ' ',
  '\n',
  '\u0085',
  '\uFEFF',
  '\u{1F600}',
  '\uD800',
  'salary',
  'please',
);

test('the keywords of any text are unique, in order, and long enough', () => {
  fc.assert(
    fc.property(fc.string({ unit: piece, maxLength: 40 }), (text) => {
      const keywords = keywordsOf(text);
      expect(new Set(keywords).size).toBe(keywords.length);
      for (const keyword of keywords) {
        expect([...keyword].length).toBeGreaterThan(3);
        expect(text.toLowerCase()).toContain(keyword);
      }
    }),
  );
});
