/** Parsers generated with the plugin behave like those of stock Peggy, on every grammar and every text. */
import peggy from 'peggy';
import { beforeAll, describe, expect, test } from 'vitest';
import { sampled } from '../helpers/runs.js';
import { agree, compare, compile, type Parsers } from './agreement.js';
import { compareMutants, disagreement } from './compare-grammars.js';
import { allGrammars, compileGrammar, exampleGrammars, optionsFor, ownGrammars } from './grammars.js';

/** Grammars for random texts. */
const CHOSEN = new Set(sampled(allGrammars(), 3).map(({ name }) => name));
const MUTANTS = 100;
const MUTANTS_OF_A_RULE = 10;

describe.each(allGrammars().map((grammar) => ({ grammar, name: grammar.name })))('$name', ({ grammar }) => {
  let parsers: Parsers;
  beforeAll(() => {
    parsers = compileGrammar(grammar);
  });

  test('both parsers accept and reject the samples as expected', () => {
    for (const [rule, { accept, refuse }] of Object.entries(grammar.rules)) {
      for (const [texts, wanted] of [[accept, true] as const, [refuse, false] as const]) {
        for (const text of texts) {
          for (const [index, options] of grammar.options.entries()) {
            const comparison = compare(parsers, text, optionsFor(rule, options));
            if (!agree(comparison)) throw disagreement(grammar, rule, text, comparison);
            if (index > 0) continue;
            const verdict = { rule, text, accepted: comparison.stock.kind === 'accepted' };
            expect(verdict).toEqual({ rule, text, accepted: wanted });
          }
        }
      }
    }
  });

  if (CHOSEN.has(grammar.name)) {
    test('the parsers agree on random texts, some accepted and some rejected', () => {
      const { accepted, refused, thrown } = compareMutants(grammar, parsers, MUTANTS, MUTANTS_OF_A_RULE);
      const total = accepted + refused + thrown;
      expect(total).toBeGreaterThanOrEqual(MUTANTS);
      expect(accepted / total).toBeGreaterThan(0.05);
      expect((refused + thrown) / total).toBeGreaterThan(0.05);
    });
  }

  test('the plugin compiles it, or reports what it leaves to stock code', () => {
    if (grammar.fallsBack === undefined) expect(parsers.notices).toEqual([]);
    // A parser that uses stock code would agree, too.
    expect(parsers.isFast).toBe(parsers.notices.length === 0);
  });
});

describe('the grammars', () => {
  const nodes = ownGrammars().flatMap(({ sources }) => sources.flatMap(({ text }) => nodesOf(text)));

  test('contain every node of the syntax trees of Peggy', () => {
    const found = new Set(nodes.map(({ type }) => type));
    expect([...found].sort()).toEqual(
      [
        // Expressions.
        ...['action', 'any', 'choice', 'class', 'classEscape', 'group', 'labeled', 'library_ref', 'literal', 'named'],
        ...['one_or_more', 'optional', 'repeated', 'rule', 'rule_ref', 'semantic_and', 'semantic_not', 'sequence'],
        ...['simple_and', 'simple_not', 'text', 'zero_or_more'],
        // Bounds of repetitions.
        ...['constant', 'function', 'variable'],
        // The parts around the rules.
        ...['grammar', 'grammar_import', 'import_binding', 'import_binding_all', 'import_binding_default'],
        ...['import_binding_rename', 'import_module_specifier', 'initializer', 'top_level_initializer'],
      ].sort(),
    );
  });

  test('contain every kind of expression that Peggy knows', () => {
    const found = new Set(nodes.map(({ type }) => type));
    // The compiler's visitor adds a function for each missing kind.
    const known: Record<string, unknown> = {};
    peggy.compiler.visitor.build(known);
    expect(Object.keys(known).filter((kind) => !found.has(kind))).toEqual([]);
  });

  test('contain each flag that changes the meaning of a node', () => {
    const some = (type: string, holds: (node: Node) => unknown): boolean =>
      nodes.some((node) => node.type === type && Boolean(holds(node)));
    const flags = {
      caselessLiteral: some('literal', (node) => node['ignoreCase']),
      emptyLiteral: some('literal', (node) => node['value'] === ''),
      caselessClass: some('class', (node) => node['ignoreCase']),
      invertedClass: some('class', (node) => node['inverted']),
      unicodeClass: some('class', (node) => node['unicode']),
      caselessUnicodeClass: some('class', (node) => node['unicode'] && node['ignoreCase']),
      invertedUnicodeClass: some('class', (node) => node['unicode'] && node['inverted']),
      emptyClass: some('class', (node) => (node['parts'] as unknown[]).length === 0),
      pick: some('labeled', (node) => node['pick'] === true && node['label'] === null),
      labeledPick: some('labeled', (node) => node['pick'] === true && node['label'] !== null),
      exactly: some('repeated', (node) => node['min'] === null),
      unbounded: some('repeated', (node) => (node['max'] as Node)['value'] === null),
      delimiter: some('repeated', (node) => node['delimiter'] !== null),
    };
    expect(Object.entries(flags).filter(([, present]) => !present)).toEqual([]);
  });

  test('are not only those that the plugin may leave to Peggy', () => {
    expect(exampleGrammars().length).toBe(4);
    expect(ownGrammars().filter(({ fallsBack }) => fallsBack === undefined).length).toBeGreaterThan(40);
  });
});

test('parsers with a cache agree, too, for grammars that do not require it', () => {
  for (const grammar of sampled(ownGrammars(), 4)) {
    if (Object.keys(grammar.imports).length > 0) continue;
    const parsers = compile(grammar.sources, { ...grammar.build, cache: true }, grammar);
    for (const [rule, { accept, refuse }] of Object.entries(grammar.rules)) {
      for (const text of [...accept, ...refuse]) {
        const comparison = compare(parsers, text, optionsFor(rule, grammar.options[0]!));
        if (!agree(comparison)) throw disagreement(grammar, rule, text, comparison);
      }
    }
  }
});

interface Node {
  readonly type: string;
  readonly [property: string]: unknown;
}

/** Every node of the syntax tree of a grammar, in any property. */
function nodesOf(grammar: string): readonly Node[] {
  const found: Node[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('type' in value && typeof value.type === 'string') found.push(value as Node);
    for (const [property, child] of Object.entries(value)) if (!/location$/i.test(property)) walk(child);
  };
  walk(peggy.parser.parse(grammar, { reservedWords: [] }));
  return found;
}
