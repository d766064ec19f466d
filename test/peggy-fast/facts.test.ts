import { describe, expect, test } from 'vitest';
import { END, has } from '../../src/peggy-fast/alphabet.js';
import { callsIn, Facts, type Start, weightOf } from '../../src/peggy-fast/facts.js';
import type { Block } from '../../src/peggy-fast/ir.js';
import type { Lowered } from '../../src/peggy-fast/lower.js';
import { ascii, lowered, nodeOf } from './lowered.js';

/** Here, code that calls `must()` has an effect. */
const mustRun = ({ code }: Block): boolean => code.includes('must()');

function factsOf(grammar: string): { readonly facts: Facts; readonly program: Lowered } {
  const program = lowered(grammar);
  return { facts: new Facts(program, mustRun), program };
}

function startOf(expression: string, rules = ''): Start {
  const { facts, program } = factsOf(`start = ${expression}\n${rules}`);
  return facts.startOf(nodeOf(program, 'start'));
}

describe('the possible beginnings of a match', () => {
  test.each([
    ['"ab" / [c-e]', 'abcde'.replace('b', ''), false],
    ['"a"? "b"', 'ab', false],
    ['"a"* "b"?', 'ab', true],
    ['"a"|0..2, ","| "b"', 'ab', false],
    ['""', '', true],
    ['!"a" [abc]', 'bc', false],
    ['&[bx] [abc]', 'b', false],
    ['("a" / "") ("b" / "c")', 'abc', false],
    ['"A"i', 'Aa', false],
  ])('%s', (expression, first, nullable) => {
    const start = startOf(expression);
    expect([ascii(start.first), start.nullable]).toEqual([first, nullable]);
    expect(has(start.first, END)).toBe(false);
  });

  test('are found through mutually recursive rules', () => {
    const start = startOf('list / "x"', 'list = "(" start ")" / empty\nempty = ""');
    expect([ascii(start.first), start.nullable]).toEqual(['(x', true]);
  });

  test('include whether a condition that is always the same comes first', () => {
    expect(startOf('&{ return options.wide; } "b"').isGated).toBe(true);
    expect(startOf('gate "b"', 'gate = !{ return options.wide; }').isGated).toBe(true);
    expect(startOf('&{ must() } "b"').isGated).toBe(false);
    expect(startOf('"a" &{ return options.wide; }').isGated).toBe(false);
  });

  test('include whether code with an effect may run first', () => {
    expect(startOf('&{ must() } "a"').effects).toBe(true);
    expect(startOf('&{ return true; } "a"').effects).toBe(false);
    expect(startOf('"a" { must() }').effects).toBe(false);
    expect(startOf('("" { must() }) "a"').effects).toBe(true);
    expect(startOf('inner "a"', 'inner = &{ must() }').effects).toBe(true);
    expect(startOf('"a"|..{ return 2; }| "b"').effects).toBe(true);
    expect(startOf('"a"|..2| "b"').effects).toBe(false);
  });
});

describe('nodes that match a single symbol', () => {
  test.each([
    ['"a" / [b-d]', 'abcd'],
    ['![bd] [a-d]', 'ac'],
    ['&[ab] [b-d]', 'b'],
    ['$[ab]', 'ab'],
    ['"a" { return 1; }', 'a'],
  ])('%s', (expression, symbols) => {
    const { facts, program } = factsOf(`start = ${expression}`);
    expect(ascii(facts.singleOf(nodeOf(program, 'start'))!)).toBe(symbols);
  });

  test.each(['"ab"', '"a" "b"', '"a"?', '"a"*', '"a" { must() }', '""', '[\\u{1F600}]u'])('not: %s', (expression) => {
    const { facts, program } = factsOf(`start = ${expression}`);
    expect(facts.singleOf(nodeOf(program, 'start'))).toBeNull();
  });

  test('a lookahead is decided by one symbol if more may follow', () => {
    const { facts, program } = factsOf('start = [ab]+\ntwo = "ab"');
    expect(ascii(facts.aheadOf(nodeOf(program, 'start'))!)).toBe('ab');
    expect(facts.aheadOf(nodeOf(program, 'two'))).toBeNull();
  });

  test('a node that fails at its start fails before it consumes anything', () => {
    const { facts, program } = factsOf('a = "abc"\nb = $a\nc = [x]+\nd = "a" "b"\ne = c|1.., ","|');
    expect(['a', 'b', 'c', 'd', 'e'].map((name) => facts.failsAtStart(nodeOf(program, name)))).toEqual([
      ...[true, true, true],
      ...[false, false],
    ]);
  });
});

test('effects are found in called rules, at any depth', () => {
  const { facts, program } = factsOf('a = b\nb = "x" c?\nc = "y" a { must() } / d\nd = "z" d?');
  expect(['a', 'b', 'c', 'd'].map((name) => facts.hasEffects(nodeOf(program, name)))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('the calls and the weight of a rule are its own', () => {
  const { program } = factsOf('a = b (c / b)*\nb = "x"\nc = "y" "z"');
  expect(callsIn(nodeOf(program, 'a'))).toEqual(['b', 'c', 'b']);
  expect(weightOf(nodeOf(program, 'a'))).toBe(6);
  expect(weightOf(nodeOf(program, 'b'))).toBe(1);
});
