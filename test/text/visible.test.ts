import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codePointName, columnsOf, quoted, visible, visibleCodePoint } from '../../src/text/visible.js';

describe('visible', () => {
  test.each([
    ['\0', '␀'],
    ['\t', '␉'],
    ['\n', '␊'],
    ['\r', '␍'],
    ['\x1b[2J', '␛[2J'],
    ['\x7f', '␡'],
    ['\x85', '<U+0085>'],
    ['\u00a0', '<U+00A0>'],
    ['\u00ad', '<U+00AD>'],
    ['\u061c', '<U+061C>'],
    ['\u200b', '<U+200B>'],
    ['\u200f', '<U+200F>'],
    ['\u2028', '<U+2028>'],
    ['\u202e', '<U+202E>'],
    ['\u2066', '<U+2066>'],
    ['\ufe0f', '<U+FE0F>'],
    ['\ufeff', '<U+FEFF>'],
    ['\u{e0041}', '<U+E0041>'],
    ['\ud800', '<U+D800>'],
    ['\udc00\ud800', '<U+DC00><U+D800>'],
  ])('%j is shown as %s', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test.each(['plain text', 'é', '漢字', '\u{1f600}', 'ａ', '|:"\\'])('%s is shown as it is', (text) => {
    expect(visible(text)).toBe(text);
  });

  test('no control character, surrogate, separator or bidirectional control remains', () => {
    const units = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) });
    fc.assert(
      fc.property(fc.oneof(units, fc.string({ unit: 'binary' })), (text) => {
        expect(visible(text)).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
        expect(visible(visible(text))).toBe(visible(text));
      }),
      { numRuns: 1000 },
    );
  });

  test('no two ASCII characters look the same', () => {
    const shown = Array.from({ length: 128 }, (_, code) => visibleCodePoint(code));
    expect(new Set(shown).size).toBe(128);
  });
});

test('the name of a code point has at least four digits', () => {
  expect([0, 0xe9, 0x1f600].map(codePointName)).toEqual(['U+0000', 'U+00E9', 'U+1F600']);
});

describe('quoted', () => {
  test.each([
    ['', '""'],
    ['two words', '"two words"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['\\', '"\\\\"'],
    ['\\"', '"\\\\\\""'],
    ['a\nb\x1b', '"a␊b␛"'],
  ])('%j', (text, expected) => {
    expect(quoted(text)).toBe(expected);
  });

  test('is valid JSON for printable ASCII', () => {
    const ascii = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(ascii, (text) => {
        expect(JSON.parse(quoted(text))).toBe(text);
      }),
    );
  });
});

test.each([
  ['abc', 3],
  ['é', 1],
  ['漢字', 4],
  ['ａ', 2],
  ['한', 2],
  ['\u{1f600}', 2],
  ['\u{20000}', 2],
  ['␛', 1],
  ['', 0],
])('%s takes %d columns', (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});
