import { describe, expect, test } from 'vitest';
import { compileGrammar } from '../../../src/fuzz/grammar/compile.js';
import { fuzzInputs, type MutantKind, mutate } from '../../../src/fuzz/mutants/mutate.js';

const grammar = compileGrammar(`
  list = "(" item|.., ","| ")"
  item = path / number
  path = $("$" [a-z.]+)
  number = $("-"? [0-9]+ ("." [0-9]+)?)
`);

/** The texts that one edit of a kind makes. */
function made(kind: MutantKind, text: string, count = 1_500): ReadonlySet<string> {
  const mutants = [...mutate(grammar, text, { seed: 1, count, kinds: [kind] })];
  return new Set(mutants.filter(({ kinds }) => kinds.length === 1).map((mutant) => mutant.text));
}

describe('edits', () => {
  test('insert the neighbors of a class in place of its characters', () => {
    const texts = made('edge', '($a,5)');
    for (const neighbour of ['-', '/', '`', '{']) expect([...texts]).toContain(`($${neighbour},5)`);
    for (const neighbour of ['/', ':']) expect([...texts]).toContain(`($a,${neighbour})`);
    expect([...texts].every((text) => /[-/`{:]/.test(text))).toBe(true);
  });

  test('are made in every rule, however long the others are', () => {
    const texts = [...made('number', `($${'abc.'.repeat(100)},5)`)];
    expect(texts.filter((text) => /,-0\)$/.test(text)).length).toBeGreaterThan(0);
  });

  test('insert numbers, even in place of parts without words', () => {
    const texts = made('number', '($.,$.)');
    expect([...texts]).toContain('($.,007)');
    expect([...texts].some((text) => /^\(9007199254740993,/.test(text))).toBe(true);
  });

  test('insert inherited words in place of others', () => {
    const texts = made('word', '($a,$b)');
    expect([...texts]).toContain('($a,$__proto__)');
    expect([...texts]).toContain('($constructor,$b)');
  });

  test('of delimiters are next to delimiters of the text', () => {
    const texts = made('delimiter', '($abcdefghijkl,$mnopqrstuvwx)');
    expect([...texts]).toContain('($abcdefghijkl,$mnopqrstuvwx,)');
    expect([...texts]).toContain('($abcdefghijkl,,$mnopqrstuvwx)');
  });

  test('of controls insert a byte order mark before a text and a line end after it', () => {
    const texts = made('control', '($a)');
    expect([...texts]).toContain('\ufeff($a)');
    expect([...texts]).toContain('($a)\n');
  });
});

describe('words of rules', () => {
  test('are used in some of the texts', () => {
    const words = { path: ['$known.path'] };
    const texts = [...fuzzInputs(grammar, { seed: 1, count: 400, mutantRatio: 0, words })].map(({ text }) => text);
    const paths = texts.flatMap((text) => text.match(/\$[a-z.]+/g) ?? []);
    const known = paths.filter((path) => path === '$known.path').length / paths.length;
    expect(known).toBeGreaterThan(0.1);
    expect(known).toBeLessThan(0.5);
  });

  test('that the grammar does not have are ignored', () => {
    const words = { path: ['no path'], nothing: ['x'] };
    for (const { valid } of fuzzInputs(grammar, { seed: 1, count: 100, mutantRatio: 0, words }))
      expect(valid).toBe(true);
  });
});

test('some sentences have long lists', () => {
  const inputs = fuzzInputs(grammar, { seed: 1, count: 2_000, mutantRatio: 0, maxLength: 400 });
  const items = [...inputs].map(({ text }) => text.split(',').length);
  expect(items.filter((count) => count > 20).length).toBeGreaterThan(5);
  expect(items.filter((count) => count < 5).length).toBeGreaterThan(1_000);
});
