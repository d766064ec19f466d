import { describe, expect, test } from 'vitest';
import { END, has, patternOf } from '../../src/peggy-fast/alphabet.js';
import { type Symbols, Unsupported } from '../../src/peggy-fast/ir.js';
import { lowered, nodeOf } from './lowered.js';

function setIn(grammar: string): { readonly holds: (character: string) => boolean } {
  const program = lowered(grammar);
  const { set } = nodeOf(program, 'start') as Symbols;
  return { holds: (character) => has(set, program.alphabet.symbolOf(character.charCodeAt(0))) };
}

describe('symbols of code units', () => {
  test('ASCII characters are their own symbols', () => {
    const { alphabet } = lowered('start = [a-z] "é"');
    expect(Array.from({ length: 128 }, (_, unit) => alphabet.symbolOf(unit))).toEqual([...Array(128).keys()]);
  });

  test('a grammar of only ASCII has one kind of other characters', () => {
    const { alphabet } = lowered('start = [^a-z] .');
    expect(alphabet.kinds).toEqual([{ from: 0x80, to: 0xffff, symbol: 128 }]);
  });

  test('characters that no class distinguishes share a symbol', () => {
    const { alphabet } = lowered('start = [α-ω] "é" [ά]');
    const symbol = (character: string): number => alphabet.symbolOf(character.charCodeAt(0));
    expect(symbol('β')).toBe(symbol('ψ'));
    expect(symbol('ü')).toBe(symbol('漢'));
    expect(new Set(['α', 'é', 'ά', 'ü'].map(symbol)).size).toBe(4);
  });

  test('the ranges cover all code units beyond ASCII, in order, without the end mark', () => {
    const { kinds } = lowered('start = [\\u00c0-\\u00ff\\u3000] "\\uffff" [^é]').alphabet;
    expect(kinds[0]!.from).toBe(0x80);
    expect(kinds.at(-1)!.to).toBe(0xffff);
    kinds.slice(1).forEach(({ from }, index) => {
      expect(from).toBe(kinds[index]!.to + 1);
    });
    expect(kinds.every(({ symbol }) => symbol >= 0x80 && symbol < END)).toBe(true);
  });

  test('a grammar with more kinds than a byte can number is left to Peggy', () => {
    const text = (kinds: number): string =>
      String.fromCharCode(...Array.from({ length: kinds }, (_, index) => 0x400 + index));
    expect(lowered(`start = "${text(126)}"`).alphabet.symbolOf(0x400 + 125)).toBeLessThan(END);
    expect(() => lowered(`start = "${text(127)}"`)).toThrow(Unsupported);
    expect(() => lowered(`start = "${text(127)}"`)).toThrow('too many kinds of characters');
  });
});

describe('classes', () => {
  test.each([
    ['[^a]', 'bé\n', 'a'],
    ['[é-ü]', 'éü', 'èý'],
    ['[é-ü]i', 'ÉÜ', 'Èa'],
    ['[\\]\\\\^-]', ']\\^-', 'a['],
    ['.', 'aé\n\ud83d', ''],
  ])('%s', (text, inside, outside) => {
    const { holds } = setIn(`start = ${text}`);
    for (const character of inside.split('')) expect([character, holds(character)]).toEqual([character, true]);
    for (const character of outside.split('')) expect([character, holds(character)]).toEqual([character, false]);
  });

  test('are the patterns that Peggy generates', () => {
    const pattern = patternOf({ parts: [['a', 'z'], '-'], inverted: true, ignoreCase: true, unicode: false } as never);
    expect(pattern).toEqual(/^[^\u0061-\u007a\u002d]$/is);
  });

  test('of code points keep the halves of pairs separate', () => {
    expect(lowered('start = [a]').alphabet.surrogates).toBe(0n);
    const { alphabet } = lowered('start = [\\u{1F600}]u');
    expect(has(alphabet.surrogates, alphabet.symbolOf(0xd83d))).toBe(true);
    expect(has(alphabet.surrogates, alphabet.symbolOf(0xe000))).toBe(false);
  });
});

describe('case-insensitive strings', () => {
  test('match characters with the same lower case, as Peggy compares them', () => {
    const { alphabet } = lowered('start = "k"i');
    const folded = alphabet.foldedSet('k');
    // U+212A is the Kelvin sign.
    for (const character of 'kK\u212a') expect(has(folded, alphabet.symbolOf(character.charCodeAt(0)))).toBe(true);
    expect(has(folded, 'x'.charCodeAt(0))).toBe(false);
  });

  test('are left to Peggy if a lower case is more than one character', () => {
    for (const text of ['Σ', 'İ', '😀']) expect(() => lowered(`start = "${text}"i`)).toThrow(Unsupported);
  });
});
