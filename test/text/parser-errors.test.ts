import { describe, expect, test } from 'vitest';
import { characterAt, characterName, expectedButFound, expectedPhrases, oneOf } from '../../src/text/parser-errors.js';

test('phrases are unique and sorted: quoted literals, then names, then the end; classes are dropped', () => {
  expect(
    expectedPhrases([
      { type: 'end' },
      { type: 'other', description: 'text' },
      { type: 'literal', text: '}' },
      { type: 'other', description: 'key' },
      { type: 'class' },
      { type: 'literal', text: '|' },
      { type: 'any' },
      { type: 'literal', text: '}' },
    ]),
  ).toEqual(['"|"', '"}"', 'key', 'text', 'end of input']);
});

test.each([
  [['"|"', '"}"', 'text'], ':', 'Expected "|", "}" or text, found ":".'],
  [['key', 'end of input'], null, 'Expected key or end of input, found end of input.'],
  [['agent id'], ' ', 'Expected agent id, found a space.'],
  [[], 'x', 'Expected something else, found "x".'],
])('the message for %j and %j', (expected, found, message) => {
  expect(expectedButFound(expected, found)).toBe(message);
});

test.each([
  [[], 'something else'],
  [['a'], 'a'],
  [['a', 'b'], 'a or b'],
  [['a', 'b', 'c'], 'a, b or c'],
])('one of %j', (phrases, text) => {
  expect(oneOf(phrases)).toBe(text);
});

describe('a character', () => {
  test('is a whole code point, or a lone surrogate', () => {
    const text = 'a\u{1f600}\ud800';
    expect(characterAt(text, 0)).toBe('a');
    expect(characterAt(text, 1)).toBe('\u{1f600}');
    expect(characterAt(text, 3)).toBe('\ud800');
    expect(characterAt(text, 4)).toBeNull();
  });

  test.each([
    [null, 'end of input'],
    [' ', 'a space'],
    ['\t', 'a tab'],
    ['\n', 'a line end'],
    ['\r', 'a line end'],
    ['a', '"a"'],
    ['"', '"""'],
    ['\0', 'U+0000'],
    ['\x1b', 'U+001B'],
    ['\x7f', 'U+007F'],
    ['\u00a0', 'U+00A0'],
    ['é', '"é" (U+00E9)'],
    ['：', '"：" (U+FF1A)'],
    ['\u{1f600}', '"\u{1f600}" (U+1F600)'],
    ['\u202e', 'U+202E'],
    ['\ud800', 'U+D800'],
  ])('%j has a name', (character, words) => {
    expect(characterName(character)).toBe(words);
  });
});
