/** The grammars of the two protocols. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileGrammar } from '../../../src/fuzz/grammar/compile.js';
import type { Grammar } from '../../../src/fuzz/grammar/grammar.js';
import type { ContextFreeGrammar } from '../../../src/grammar-export/context-free.js';
import { type ContextFreeOptions, contextFree } from '../../../src/grammar-export/lower.js';
import { accpCases, packetCases } from '../../conformance/fixtures.js';
import { difference } from './compare.js';
import { shown } from './show.js';
import { languageOf, textsOver } from './texts.js';

function sourceOf(name: string): string {
  return readFileSync(new URL(`../../../grammar/${name}.peggy`, import.meta.url), 'utf8');
}

function framesFrom(startRule: string, lenient = false): Grammar {
  const parseOptions = { dialect: lenient ? 'lenient' : 'strict', maxDepth: 2 };
  return compileGrammar(sourceOf('accp'), { startRule, parseOptions, gates: { lenient } });
}

function packetsFrom(startRule: string): Grammar {
  return compileGrammar(sourceOf('aacp'), { startRule, gates: { tolerant: false } });
}

function exported({ ast, startRule }: Grammar, options: Partial<ContextFreeOptions> = {}): ContextFreeGrammar {
  return contextFree(ast, { name: 'protocol', startRule, ...options });
}

const approximationsIn = ({ approximations }: ContextFreeGrammar): string[] =>
  approximations.map(({ code, rule }) => `${code} ${rule}`);

describe('ACCP frames', () => {
  const nesting = { depth: [{ rules: ['array', 'map'], max: 2 }], depthChecks: ['entered', 'left'] };

  test('come down to a few rules, and omit only counts and repeated keys', () => {
    const grammar = exported(framesFrom('frame'));
    expect(shown(grammar)).toEqual([
      'frame = "@" agent_id ">" intent ":" operation "{" payload? "}" metadata?',
      'metadata = "[" meta_pairs "]"',
      'payload = param ("|" param)*',
      'meta_pairs = param ("," param)*',
      'param = key ":" value',
      'value = array / map / ref / null / escaped_text',
      'array = "[" (value ("," value)*)? "]"',
      'map = "{" (param ("," param)*)? "}"',
      'ref = "$" ref_key',
      'null = "~"',
      'escaped_text = (safe_char / escaped_char)+',
      'safe_char = [!-#%-+\\--9;-=?A-Z\\^-z]',
      'escaped_char = "\\\\" delimiter',
      'delimiter = [$,:>@[-\\]{-~]',
      'agent_id = [\\-0-9A-Z_a-z]+',
      'intent = [A-Za-z]+',
      'operation = [0-9A-Z_a-z]+',
      'key = [0-9A-Z_a-z]+',
      'ref_key = [.0-9A-Z_a-z]+',
    ]);
    expect(new Set(grammar.approximations.map(({ code }) => code))).toEqual(new Set(['predicate']));
  });

  test('with limited nesting, its count is not an approximation', () => {
    expect(approximationsIn(exported(framesFrom('frame'), nesting))).toEqual(
      ['payload', 'meta_pairs', 'param', 'item', 'map', 'number'].map((rule) => `predicate ${rule}`),
    );
  });

  test("without a nesting limit, the grammar's own is an approximation", () => {
    expect(approximationsIn(exported(framesFrom('frame')))).toContain('predicate entered');
  });

  test('match all frames of the conformance cases, and none with a syntax error', () => {
    const has = languageOf(exported(framesFrom('frame'), { ...nesting, depth: [{ rules: ['array', 'map'], max: 5 }] }));
    const cases = accpCases().filter(({ dialect }) => dialect === 'strict');
    const valid = cases.filter(({ error, input }) => error === undefined && input.length < 500);
    expect(valid.length).toBeGreaterThan(20);
    expect(valid.filter(({ input }) => !has(input)).map(({ id }) => id)).toEqual([]);
  });

  test.each([
    { dialect: 'strict', lenient: false, characters: 'a1-.\\|', longest: 4 },
    { dialect: 'strict', lenient: false, characters: '[]{}:,1', longest: 4 },
    { dialect: 'lenient', lenient: true, characters: '[@a:,]', longest: 4 },
  ])('match exactly the values of the $dialect dialect: $characters', ({ lenient, characters, longest }) => {
    const grammar = framesFrom('value', lenient);
    const made = exported(grammar, nesting);
    const pair = { grammar: made, accepts: grammar.accepts, has: languageOf(made) };
    expect(difference(pair, textsOver(characters, longest))).toEqual({ lost: [], added: [] });
  });
});

describe('AACP packets', () => {
  test('come down to a few rules', () => {
    const grammar = exported(packetsFrom('packet'));
    expect(shown(grammar)).toEqual([
      'packet = task "|" dom ("|" field)*',
      'task = [A-Z] [\\-0-9A-Z_]*',
      'dom = [A-Z] [\\-0-9A-Z_]*',
      'field = key ":" value',
      'key = [a-z] [0-9_a-z]*',
      'value = value_text?',
      'value_text = [!-{}-~\\u{80}-\\u{d7ff}\\u{e000}-\\u{10ffff}] [\\u{20}-{}-~\\u{80}-\\u{d7ff}\\u{e000}-\\u{10ffff}]*',
    ]);
    expect(approximationsIn(grammar)).toEqual(['predicate text_end', 'predicate counted']);
  });

  test('match all packets of the conformance cases', () => {
    const has = languageOf(exported(packetsFrom('packet')));
    const valid = packetCases().filter(({ error }) => error === undefined);
    expect(valid.length).toBeGreaterThan(10);
    expect(valid.filter(({ packet }) => !has(packet)).map(({ id }) => id)).toEqual([]);
  });
});
