/** Exact counts compared with those of tiktoken, on texts whose white space and letters differ between Rust and JavaScript. */
import fc from 'fast-check';
import { get_encoding } from 'tiktoken';
import { describe, expect, test } from 'vitest';
import { loadTokenCounter } from '../../src/tokens/load-counter.js';
import { upperBoundTokens } from '../../src/tokens/upper-bound.js';

const SPACES = [
  '\ufeff',
  '\u0085',
  '\u00a0',
  '\u1680',
  '\u180e',
  '\u200b',
  '\u2028',
  '\u2029',
  '\u3000',
  ' ',
  '\t',
  '\v',
  '\x1c',
];
const LETTERS = [
  'İ',
  'ı',
  'i',
  'ς',
  'Σ',
  'ſ',
  '\u212a',
  'ß',
  'ǅ',
  'ʰ',
  'e\u0301',
  '\u0345',
  '日本',
  'a',
  'The',
  '\u{10400}',
];
const OTHERS = [
  "'ſ",
  "'S",
  "'s",
  "'ll",
  "'VE",
  '😀',
  '\ud800',
  '\udc00',
  '１',
  '²',
  '12345',
  '.',
  '/',
  '\n',
  '\r\n',
  '\u200d',
  '\u0378',
];
const PIECES = [...SPACES, ...LETTERS, ...OTHERS];
const PAIRS = PIECES.flatMap((a) => PIECES.flatMap((b) => [a + b, `x${a}${b}y`, `${a}${a}${b}`]));

describe.each(['o200k_base', 'cl100k_base', 'p50k_base', 'r50k_base'] as const)('%s', (encoding) => {
  const reference = get_encoding(encoding);
  const expected = (text: string): number => reference.encode_ordinary(text).length;

  test('adjacent pieces', async () => {
    const { count, exact } = await loadTokenCounter(encoding);
    expect(exact).toBe(true);
    expect(PAIRS.filter((text) => count(text) !== expected(text))).toEqual([]);
  });

  test('longer texts', async () => {
    const { count } = await loadTokenCounter(encoding);
    const texts = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string()), { maxLength: 12 });
    fc.assert(
      fc.property(texts, (pieces) => {
        const text = pieces.join('');
        expect({ text, tokens: count(text) }).toEqual({ text, tokens: expected(text) });
      }),
    );
  });

  test.runIf(encoding === 'o200k_base' || encoding === 'cl100k_base')('the upper bound is one', () => {
    expect(PAIRS.filter((text) => upperBoundTokens(text) < expected(text))).toEqual([]);
  });
});
