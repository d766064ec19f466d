/** The cost of a short grammar: each export gets grammars that grow when they are expanded, and the size of its output is checked. */
import { describe, expect, test } from 'vitest';
import { compileGrammar } from '../../src/fuzz/grammar/compile.js';
import type { Grammar } from '../../src/fuzz/grammar/grammar.js';
import { ExportError } from '../../src/grammar-export/context-free.js';
import { exportGrammar, type GrammarFormat } from '../../src/grammar-export/export-grammar.js';
import { sized } from '../helpers/runs.js';

/** The output size for a grammar of size zero (its head), and for each character of a grammar. */
const [FIXED, PER_CHARACTER] = [6_000, 150];

const rules = (count: number, body: (index: number) => string, last: string) =>
  [...Array.from({ length: count }, (_, index) => `r${index} = ${body(index)}`), `r${count} = ${last}`].join('\n');

const GRAMMARS: readonly [name: string, source: (size: number) => string][] = [
  ['rules that each name the next one twice', (size) => rules(size, (index) => `r${index + 1} r${index + 1}`, '"a"')],
  [
    'rules that each name the next one in two choices',
    (size) => rules(size, (index) => `"x" r${index + 1} / "y" r${index + 1}`, '"a"'),
  ],
  ['counted repetitions in one another', (size) => `start = ${'('.repeat(size)}"a"${')|100..100|'.repeat(size)}`],
  ['repetitions up to a count', (size) => `start = ${'('.repeat(size)}"a"${')|0..100|'.repeat(size)}`],
  ['repetitions with separators', (size) => `start = ${'('.repeat(size)}"a"${')|3..200, ","|'.repeat(size)}`],
  ['a long text in any case', (size) => `start = "${'k'.repeat(50 * size)}"i`],
  ['a text of more characters than automata have states', (size) => `start = "${'ab'.repeat(300 * size)}" "x"?`],
  ['the same in any case', (size) => `start = "x" / "${'ab'.repeat(300 * size)}"i`],
  ['optional parts one after the other', (size) => `start = ${'"a"? '.repeat(5 * size)}`],
  [
    'classes of many ranges',
    (size) =>
      `start = [${Array.from({ length: 20 * size }, (_, index) => String.fromCharCode(0x4e00 + 2 * index)).join('')}]i`,
  ],
  ['predicates before everything', (size) => `start = ${'(!"c" .)* "c" '.repeat(size)}`],
];

const COMPILED = new Map<string, Grammar>();

/** Compiles a grammar once for all formats. */
function compiled(text: string): Grammar {
  const known = COMPILED.get(text) ?? compileGrammar(text);
  COMPILED.set(text, known);
  return known;
}

describe.each<GrammarFormat>(['abnf', 'gbnf', 'lark', 'regex'])('as %s', (to) => {
  test.each(GRAMMARS)('%s are written in proportion, or rejected', (_name, source) => {
    // Peggy itself takes twice as long for each additional nested bracket.
    for (const size of [2, sized(6, 8)]) {
      const text = source(size);
      let output: string;
      try {
        output = exportGrammar(compiled(text), { to });
      } catch (error) {
        expect(error).toBeInstanceOf(ExportError);
        continue;
      }
      expect(output.length).toBeLessThan(FIXED + PER_CHARACTER * text.length);
    }
  });
});
