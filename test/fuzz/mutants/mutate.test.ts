import { describe, expect, test } from 'vitest';
import { accpLanguage } from '../../../src/accp/language/language.js';
import { compileGrammar } from '../../../src/fuzz/grammar/compile.js';
import {
  fuzzInputs,
  generateMutants,
  MUTANT_KINDS,
  type MutantKind,
  mutate,
  truncations,
} from '../../../src/fuzz/mutants/mutate.js';
import { sized } from '../../helpers/runs.js';

const { grammar } = accpLanguage();
const FRAME = '@bot>req:run{k:[1,-2.5,true]|m:{a:~,b:$x.y}}[mid:q\\:1,seq:7]';

/** Mutants of the grammar. */
const MUTANTS = [...generateMutants(grammar, { seed: 1, count: 1_000 })];

const MADE = new Map<MutantKind, readonly string[]>();

/** The texts that one kind of edit makes of the frame. */
function made(kind: MutantKind): readonly string[] {
  const known = MADE.get(kind) ?? edited(kind, sized(1_500, 3_000));
  MADE.set(kind, known);
  return known;
}

function edited(kind: MutantKind, count: number): string[] {
  return [...mutate(grammar, FRAME, { seed: 1, count, kinds: [kind], donors: ['@b>qry:find{z:[[]]}'] })]
    .filter(({ kinds }) => kinds.length === 1)
    .map(({ text }) => text);
}

describe('mutants', () => {
  test('are the same for the same seed, and others for another', () => {
    const first = [...generateMutants(grammar, { seed: 3, count: 200 })];
    expect([...generateMutants(grammar, { seed: 3, count: 200 })]).toEqual(first);
    expect([...generateMutants(grammar, { seed: 4, count: 200 })]).not.toEqual(first);
  });

  test('are labeled by the grammar: many valid, many not', () => {
    for (const { text, valid } of MUTANTS) expect({ text, valid }).toEqual({ text, valid: grammar.accepts(text) });
    const valid = MUTANTS.filter((one) => one.valid).length;
    expect(valid).toBeGreaterThan(200);
    expect(valid).toBeLessThan(700);
  });

  test('come from every kind of edit', () => {
    const kinds = new Set(MUTANTS.flatMap((one) => one.kinds));
    expect([...kinds].sort()).toEqual([...MUTANT_KINDS].sort());
  });

  const EXAMPLES: readonly [kind: MutantKind, text: string][] = [
    // With the separator that would be left over.
    ['drop', '@bot>req:run{m:{a:~,b:$x.y}}[mid:q\\:1,seq:7]'],
    ['drop', '@bot>req:run{k:[1,-2.5]|m:{a:~,b:$x.y}}[mid:q\\:1,seq:7]'],
    ['duplicate', '@bot>req:run{k:[1,-2.5,true]|m:{a:~,a:~,b:$x.y}}[mid:q\\:1,seq:7]'],
    ['swap', '@bot>req:run{m:{a:~,b:$x.y}|k:[1,-2.5,true]}[mid:q\\:1,seq:7]'],
    ['splice', '@bot>req:run{k:[1,[[]],true]|m:{a:~,b:$x.y}}[mid:q\\:1,seq:7]'],
    ['splice', '@b>req:run{k:[1,-2.5,true]|m:{a:~,b:$x.y}}[mid:q\\:1,seq:7]'],
    ['truncate', '@bot>req:run{k:[1,-2.5,true]'],
    ['slip', '@bto>req:run{k:[1,-2.5,true]|m:{a:~,b:$x.y}}[mid:q\\:1,seq:7]'],
  ];
  test.each(EXAMPLES)('%s makes texts such as %s', (kind, text) => {
    expect(made(kind)).toContain(text);
  });

  const PATTERNS: readonly [kind: MutantKind, pattern: RegExp][] = [
    ['nest', /k:\[\[/],
    ['nest', /\{a:\{a:/],
    ['number', /9007199254740993/],
    ['number', /[^0-9]0+1/],
    ['number', /9{1001}/],
    ['look-alike', /[\uff00-\uffef]/],
    ['look-alike', /[\u0400-\u04ff]/],
    ['control', /^\ufeff/],
    ['control', /[\0\x7f]/],
    ['control', /\n$/],
    ['escape', /q:1/],
    ['escape', /\\[a-z]/],
    ['letter-case', /TRUE|True/],
    ['delimiter', /^[^@]*@.*@/],
  ];
  test.each(PATTERNS)('%s makes some that match %s', (kind, pattern) => {
    expect(made(kind).some((text) => pattern.test(text))).toBe(true);
  });

  test('of an invalid text have lexical edits', () => {
    const all = [...mutate(grammar, '@bot', { seed: 1, count: 50 })];
    expect(all).toHaveLength(50);
    expect(all.flatMap(({ kinds }) => kinds)).not.toContain('swap');
    expect(new Set(all.map(({ text }) => text)).size).toBeGreaterThan(20);
  });

  test('of an empty text are made, too', () => {
    expect([...mutate(compileGrammar('a = "x"?'), '', { seed: 1, count: 20 })]).toHaveLength(20);
  });

  test('can begin with a corpus', () => {
    const seeds = ['@corpus>ask:me{}'];
    const all = [...generateMutants(grammar, { seed: 1, count: 300, seeds })];
    expect(all.filter(({ text }) => text.includes('corpus')).length).toBeGreaterThan(50);
  });
});

test('truncations are all proper prefixes of a text, each labeled', () => {
  const all = truncations(compileGrammar('a = "x"+ ("," "x")?'), 'xx,x');
  expect(all.map(({ text, valid }) => [text, valid])).toEqual([
    ['', false],
    ['x', true],
    ['xx', true],
    ['xx,', false],
  ]);
});

describe('inputs', () => {
  test('mix sentences and mutants in the given ratio', () => {
    for (const mutants of [0, 0.25, 1]) {
      const all = [...fuzzInputs(grammar, { seed: 1, count: 1_000, mutantRatio: mutants })];
      const mutated = all.filter(({ kinds }) => kinds.length > 0).length;
      expect(all).toHaveLength(1_000);
      expect(Math.abs(mutated / 1_000 - mutants)).toBeLessThan(0.1);
      for (const { kinds, valid } of all) if (kinds.length === 0) expect(valid).toBe(true);
    }
  });

  test('begin with the unchanged corpus, and with one sentence truncated at each place', () => {
    const all = [...fuzzInputs(grammar, { seed: 1, count: 200, seeds: ['one', 'two'] })].map(({ text }) => text);
    expect(all.slice(0, 2)).toEqual(['one', 'two']);
    const whole = all[2]!;
    expect(grammar.accepts(whole)).toBe(true);
    expect(all.slice(3, 3 + whole.length)).toEqual(Array.from(whole, (_, end) => whole.slice(0, end)));
  });
});
