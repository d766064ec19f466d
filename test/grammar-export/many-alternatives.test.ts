/** Choices between hundreds of words, such as the keywords of SQL: the work grows with the size of the grammar, not with its square. */
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { compileGrammar } from '../../src/fuzz/grammar/compile.js';
import { type exportGrammar, GRAMMAR_FORMATS, type GrammarFormat } from '../../src/grammar-export/export-grammar.js';
import { sampled, sized } from '../helpers/runs.js';
import { withSteps } from '../helpers/steps.js';

/** The exports and Peggy, with counters in all of their code. */
const { outputFiles } = await build({
  stdin: {
    contents: `export * from './src/grammar-export/export-grammar.js'; export * from './src/fuzz/grammar/compile.js';`,
    resolveDir: process.cwd(),
  },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  supported: { 'const-and-let': true },
});
const counting = await withSteps(outputFiles[0]!.text);
const compile = counting['compileGrammar'] as typeof compileGrammar;
const write = counting['exportGrammar'] as typeof exportGrammar;

/** The steps of some work, including work that throws. */
function stepsOf(work: () => void): number {
  counting.takeSteps();
  try {
    work();
  } catch (error) {
    expect((error as Error).name).toBe('ExportError');
  }
  return counting.takeSteps();
}

/** The steps for a grammar of size zero, which is the budget of proofs, and for each character of a grammar. */
const [FIXED, PER_CHARACTER] = [20_000_000, 1_000];

const COUNT = 250;

/** Words of three to eight letters, many of which have common prefixes. */
const words = (count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    `${index.toString(5)}x${((index * 7919) % 104_729).toString(26)}`.replace(
      /[0-9]/g,
      (digit) => 'qrstuvwxyz'[+digit]!,
    ),
  );

const GRAMMARS: readonly [name: string, source: (words: readonly string[]) => string][] = [
  ['words in any case', (all) => `word = ${all.map((word) => `"${word}"i`).join(' / ')}`],
  ['statements', (all) => `start = (one " ")*\none = ${all.map((word) => `"${word}"i " " [0-9]+ ";"`).join(' / ')}`],
  [
    'words with rules of their own',
    (all) => [`word = ${all.join(' / ')}`, ...all.map((word) => `${word} = "${word}"i ![a-z]`)].join('\n'),
  ],
  ['words or names', (all) => `start = word / [a-z]+\nword = ${all.map((word) => `"${word}"i`).join(' / ')}`],
  ['words and names in a row', (all) => `start = (${all.map((word) => `"${word}"i`).join(' / ')} / [a-z]+)+`],
  [
    'single characters',
    (all) => `start = ${all.map((_, at) => `"${String.fromCharCode(0x4e00 + 2 * at)}"`).join(' / ')}`,
  ],
];

/** Grammars and their formats: in the short form, every third grammar in one format. */
const CASES = sampled(GRAMMARS, 3).map(
  ([name, source], at) =>
    [name, source, sized([GRAMMAR_FORMATS[at % GRAMMAR_FORMATS.length]!], [...GRAMMAR_FORMATS])] as const,
);

describe.each(CASES)('%s', (_name, source, formats) => {
  const text = source(words(COUNT));
  const most = FIXED + PER_CHARACTER * text.length;
  let grammar: ReturnType<typeof compileGrammar>;

  test('are compiled in proportion', () => {
    expect(
      stepsOf(() => {
        grammar = compile(text);
      }),
    ).toBeLessThan(most);
  });

  test.each<GrammarFormat>(formats)('are written as %s in proportion', (to) => {
    expect(stepsOf(() => write(grammar, { to }))).toBeLessThan(most);
  });
});

test('thousands of alternatives are compiled, and the first that matches is taken', () => {
  const grammar = compileGrammar(
    `start = ${words(3_000)
      .map((word) => `"${word}" !.`)
      .join(' / ')}`,
  );
  for (const at of [0, 1_499, 1_500, 2_999])
    expect(grammar.parse(words(3_000)[at]!)).toMatchObject({ ok: true, value: [words(3_000)[at], undefined] });
  expect(grammar.accepts('none')).toBe(false);
});
