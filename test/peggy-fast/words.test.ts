/** Texts that the scanner interns: the same as without, after any other texts. */
import fc from 'fast-check';
import peggy from 'peggy';
import { describe, expect, test } from 'vitest';
import fast from '../../src/peggy-fast/peggy-plugin.js';

interface Reader {
  readonly parse: (text: string) => unknown;
}

function reader(grammar: string, words: readonly string[], more: object = {}): Reader {
  return peggy.generate(grammar, {
    plugins: [fast],
    fast: { standalone: true, intern: words, ...more },
  } as never) as never;
}

const LINES =
  'lines = @line|.., "\\n"| \n line = key:key ":" value:$[^\\n]* { return { key, value }; } \n key "key" = $[a-z]+';

describe('interned texts', () => {
  const lines = reader(LINES, ['key']);

  test('are of any length, with any text after them', () => {
    const texts = ['a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'abcdefgh', 'abcdefghi', 'abcdefghij'];
    for (const value of ['', 'x', 'aaaaaaaaaaaa', 'é€😀']) {
      const list = [...texts, ...texts].map((key) => ({ key, value }));
      expect(lines.parse(list.map(({ key }) => `${key}:${value}`).join('\n'))).toEqual(list);
    }
  });

  test('are right even if there are more than fit', () => {
    const key = fc.stringMatching(/^[a-z]{1,10}$/);
    const line = fc.record({ key, value: fc.stringMatching(/^[ -~]{0,5}$/) });
    const property = fc.property(fc.array(line, { minLength: 1, maxLength: 3000, size: 'max' }), (list) => {
      expect(lines.parse(list.map((one) => `${one.key}:${one.value}`).join('\n'))).toEqual(list);
    });
    fc.assert(property, { numRuns: 30 });
  });

  test('may be empty, or contain other characters than letters', () => {
    const grammar = 'start = (@word ";")* \n word = $([A-Z] [a-z0-9_]* / "--" / [!-\\x2f]? "~"i?)';
    const words = ['', 'Ab', '--', '!', '!~', '~', 'A1234567', 'A12345678', ''];
    const read = reader(grammar, ['word']);
    for (let round = 0; round < 3; round++) expect(read.parse(words.map((one) => `${one};`).join(''))).toEqual(words);
  });
});

describe('rules that cannot be interned', () => {
  test.each([
    ['is not there', 'a = $[a-z]+', 'b', 'intern: there is no rule "b"'],
    ['is not a text', 'a = [a-z]+', 'a', 'intern: the rule "a" is not a text of ASCII characters'],
    ['holds characters beyond ASCII', 'a = $[^,]+', 'a', 'intern: the rule "a" is not a text of ASCII characters'],
    ['holds the character zero', 'a = $[\\0-z]+', 'a', 'intern: the rule "a" is not a text of ASCII characters'],
    ['holds a string beyond ASCII', 'a = $("é" "a")', 'a', 'intern: the rule "a" is not a text of ASCII characters'],
    ['folds to a character beyond ASCII', 'a = $"k"i', 'a', 'intern: the rule "a" is not a text of ASCII characters'],
    ['calls another rule', 'a = $b \n b = "b"', 'a', 'intern: the rule "a" is not a text of ASCII characters'],
  ])('are reported: one that %s', (_, grammar, rule, message) => {
    expect(() => reader(grammar, [rule])).toThrow(message);
    const notices: string[] = [];
    reader(grammar, [rule], { standalone: false, onNotice: (notice: string) => notices.push(notice) });
    expect(notices).toEqual([expect.stringContaining(message)]);
  });
});
