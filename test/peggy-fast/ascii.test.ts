/** Code that reads the codes of matched characters gets them from the scanned bytes. */
import peggy from 'peggy';
import { describe, expect, test } from 'vitest';
import fast from '../../src/peggy-fast/peggy-plugin.js';

interface Parser {
  parse(text: string): unknown;
}

const SUM = `
  sum = from:here $[a-z~\\0]+ to:here tail:$[0-9]* { return [codes(from, to), tail]; }
  here = "" { return offset(); }
`;
const CODES = `{
  function codes(from, to) {
    const list = [];
    for (let at = from; at < to; at++) list.push(input.charCodeAt(at));
    return list;
  }
}`;

function fastParser(grammar: string, onNotice?: (message: string) => void): Parser {
  const options = { standalone: onNotice === undefined, readsMatched: true, onNotice };
  return peggy.generate(grammar, { plugins: [fast], fast: options } as never) as never;
}

describe('matched characters', () => {
  const stock = peggy.generate(CODES + SUM) as Parser;
  const parser = fastParser(CODES + SUM);

  test('are read as by Peggy', () => {
    for (const text of ['a', 'az~', '\0a\0', `${'q'.repeat(100)}12`, 'b', 'zz1']) {
      expect(parser.parse(text)).toEqual(stock.parse(text));
    }
  });

  test('are read after rejected texts of any kind', () => {
    for (const text of ['aé', 'é', '\ud800', '', 'a!']) expect(() => parser.parse(text)).toThrow('but');
    expect(parser.parse('abc')).toEqual([[97, 98, 99], '']);
  });

  test('are read from the bytes, without a check for ASCII', () => {
    const source = (readsMatched: boolean): string =>
      peggy.generate(CODES + SUM, { output: 'source', plugins: [fast], fast: { readsMatched } } as never) as never;
    expect(source(true)).not.toContain('input.charCodeAt(at);');
    expect(source(false)).toContain('input.charCodeAt(at);');
  });
});

describe('a grammar that matches more than ASCII is left to Peggy', () => {
  test.each([
    ['a class', 'a = [a-zé]', 'b', 'a'],
    ['an inverted class', 'a = b\nb = [^a]', 'b', 'b'],
    ['any character', 'a = .', 'b', 'a'],
    ['a string', 'a = "x" / "é"', 'x', 'a'],
    // The Kelvin sign is a k, too.
    ['a string in any case', 'a = "k"i', 'K', 'a'],
    ['code points', 'a = [a]u', 'a', 'a'],
  ])('%s', (_name, grammar, text, rule) => {
    const notices: string[] = [];
    expect(fastParser(grammar, (notice) => notices.push(notice)).parse(text)).toBe(text);
    expect(notices.join()).toContain(`readsMatched: the rule "${rule}" matches characters beyond ASCII`);
    expect(() => fastParser(grammar)).toThrow('matches characters beyond ASCII');
  });
});
