import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { END, has, NONE, rangesOf, SYMBOLS, type SymbolSet, setOf } from '../../src/peggy-fast/alphabet.js';
import { Tables } from '../../src/peggy-fast/tables.js';

function setFrom(text: string): SymbolSet {
  return [...text].reduce((set, character) => set | setOf(character.charCodeAt(0)), NONE);
}

/** The declared tables, as in a parser. */
const RUNTIME = `
  const peg$tableOf = (sets) => {
    const table = new Uint8Array(256);
    sets.forEach((ranges, bit) => {
      for (let i = 0; i < ranges.length; i += 2) table.subarray(ranges[i], ranges[i + 1] + 1).forEach((value, at) => {
        table[ranges[i] + at] = value | (1 << bit);
      });
    });
    return table;
  };
  const peg$endsOf = (ranges) => ranges;`;

describe('tests for membership', () => {
  test('are comparisons if those are as fast as a table', () => {
    const tables = new Tables();
    expect(tables.isIn(setFrom('a'), 'bytes$[at$]')).toBe('bytes$[at$] === 97');
    expect(tables.isNotIn(setFrom('a'), 'bytes$[at$]')).toBe('bytes$[at$] !== 97');
    expect(tables.isIn(setFrom('ac'), 'symbol$1')).toBe('symbol$1 === 97 || symbol$1 === 99');
    expect(tables.isIn(setFrom('abc'), 'symbol$1')).toBe('symbol$1 >= 97 && symbol$1 <= 99');
    expect(tables.isIn(NONE, 'symbol$1')).toBe('false');
    expect(tables.isNotIn(NONE, 'symbol$1')).toBe('true');
    expect(tables.declarations()).toBe('');
  });

  test('read the buffer once: two comparisons are for variables', () => {
    expect(new Tables().isIn(setFrom('ac'), 'bytes$[at$]')).toBe('(table0$[bytes$[at$]] & 1) !== 0');
  });

  test('read the buffer once: letters of both cases differ in one bit', () => {
    expect(new Tables().isIn(setFrom('Kk'), 'bytes$[at$]')).toBe('(bytes$[at$] | 32) === 107');
    expect(new Tables().isNotIn(setFrom('Kk'), 'bytes$[at$]')).toBe('(bytes$[at$] | 32) !== 107');
    expect(new Tables().isNotIn(setFrom('Kk'), 'symbol$1')).toBe('!(symbol$1 === 75 || symbol$1 === 107)');
  });

  test('share a table among eight sets, and a bit among equal ones', () => {
    const tables = new Tables();
    const sets = [...'abcdefghi'].map((last) => setFrom(`02468${last}`));
    const tests = sets.map((set) => tables.isIn(set, 'x'));
    expect(tests[7]).toBe('(table0$[x] & 128) !== 0');
    expect(tests[8]).toBe('(table1$[x] & 1) !== 0');
    expect(tables.isIn(sets[7]!, 'x')).toBe(tests[7]);
    expect(tables.declarations().match(/peg\$tableOf/g)).toHaveLength(2);
  });

  test('have a comment with the grammar’s name of the set', () => {
    const tables = new Tables();
    tables.isIn(setFrom('02468'), 'x');
    tables.isIn(setFrom('02468'), 'x', '[02468]');
    expect(tables.declarations()).toContain('[48, 48, 50, 50, 52, 52, 54, 54, 56, 56], // [02468]');
  });

  test('hold for the members of any set, and only for them', () => {
    const sets = fc.array(fc.tuple(fc.nat(END), fc.nat(40)), { maxLength: 5 }).map((ranges) =>
      ranges.reduce((set, [from, length]) => {
        const to = Math.min(from + length, END);
        return set | (((1n << BigInt(to - from + 1)) - 1n) << BigInt(from));
      }, NONE),
    );
    const pairs = fc.nat(END - 33).map((symbol) => setOf(symbol) | setOf(symbol + 32));
    fc.assert(
      fc.property(
        fc.array(fc.oneof(sets, pairs), { minLength: 1, maxLength: 12 }),
        fc.constantFrom('x', 'bytes[x]'),
        (list, symbol) => {
          const tables = new Tables();
          const tests = list.map((set) => [tables.isIn(set, symbol), tables.isNotIn(set, symbol)]);
          const answers = tests.map(([isIn, isNotIn]) => `[${isIn}, ${isNotIn}]`).join();
          const made = new Function(`${RUNTIME}\n${tables.declarations()}\nreturn (bytes, x) => [${answers}];`)() as (
            bytes: Uint8Array,
            x: number,
          ) => boolean[][];
          const bytes = Uint8Array.from({ length: SYMBOLS }, (_, index) => index);
          const wrong = [...bytes].filter((x) =>
            made(bytes, x).some(([isIn, isNotIn], index) => isIn !== has(list[index]!, x) || isNotIn === isIn),
          );
          expect(wrong).toEqual([]);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('tables for runs', () => {
  test('are one for each set, up to a number of them', () => {
    const tables = new Tables();
    const names = [...'abcdefghijklm'].map((last) => tables.endsOf(setFrom(`0${last}`), ''));
    expect(names.slice(0, 12)).toEqual(Array.from({ length: 12 }, (_, index) => `ends${index}$`));
    expect(names[12]).toBeNull();
    expect(tables.endsOf(setFrom('0c'), '')).toBe('ends2$');
    expect(rangesOf(setFrom('0c'))).toHaveLength(2);
    expect(tables.declarations()).toContain('const ends2$ = peg$endsOf([48, 48, 99, 99]);');
  });
});
