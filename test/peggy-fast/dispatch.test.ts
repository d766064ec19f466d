/** Choices by the next symbol: a skipped alternative would not have reported, and code is not duplicated too often. */
import peggy from 'peggy';
import { describe, expect, test } from 'vitest';
import fast from '../../src/peggy-fast/peggy-plugin.js';
import { agree, compare, compile } from './agreement.js';

describe('an alternative that is skipped after one that matches does not report', () => {
  test.each([
    's = "(" ("let" "x" / "var" "y") &{ return false; } ")"',
    's = "x" ("a" "c" / "b" "d") &{ return false; }',
    's = "y" / "c" (&. / "b") !{ return true; }',
    's = "c" (!" " / "b" "c") !{ return true; }',
    's = "c" ("" / "b" "c") !{ return true; }',
    's = "c" ("q"* / "b" "c") !{ return true; }',
    's = "c" (&{ return true; } / "b") !{ return true; }',
    's = "c" ("a" / &{ return true; } "b") !{ return true; }',
    's = "c" ("b" / "a" &{ return false; } / "d") !{ return true; }',
    's = "c" (&"a" / "b" / "c") !{ return true; } / "cab"',
    's = "c" r? !{ return true; }\nr = !"a" "b" / &"z" "q"',
    's = r0 / "cd" r2 !{ return true; }\nr0 = "q"\nr2 = !" "|1..2| / "b"+ r2|2.., "c"| / "d" r2',
  ])('%s', (grammar) => {
    const parsers = compile([{ source: 'test', text: grammar }]);
    for (const text of textsOf(['(let', 'x', 'a', 'b', 'c', 'd', 'q', ' ', ')'], 3)) {
      const comparison = compare(parsers, text);
      if (agree(comparison)) continue;
      expect({ text, outcome: comparison.fast }).toStrictEqual({ text, outcome: comparison.stock });
      expect.fail(`the parser without stock code disagrees about ${JSON.stringify(text)}`);
    }
  });
});

/** All texts of at most a number of pieces. */
function textsOf(pieces: readonly string[], count: number): string[] {
  if (count === 0) return [''];
  const shorter = textsOf(pieces, count - 1);
  const longest = shorter.filter((_, index) => index >= shorter.length - pieces.length ** (count - 1));
  return [...shorter, ...longest.flatMap((text) => pieces.map((piece) => text + piece))];
}

describe('the size of the code grows with that of the grammar', () => {
  const ladder = (rules: number): string =>
    [
      ...Array.from({ length: rules }, (_, n) => `r${n} = [ab] r${n + 1} / [bc] "y" / [a-c] "z"`),
      `r${rules} = "x"`,
    ].join('\n');
  const size = (rules: number, standalone: boolean): number =>
    peggy.generate(ladder(rules), {
      ...{ output: 'source', plugins: [fast] },
      fast: { standalone },
    }).length;

  test.each([false, true])('with nested alternatives that begin alike (standalone: %s)', (standalone) => {
    const [small, large] = [size(16, standalone), size(64, standalone)];
    expect(large).toBeLessThan(6 * small);
    expect(small).toBeLessThan(600_000);
  });
});
