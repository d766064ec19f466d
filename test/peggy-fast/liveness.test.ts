import { expect, test } from 'vitest';
import type { Block } from '../../src/peggy-fast/ir.js';
import { liveLabels } from '../../src/peggy-fast/liveness.js';
import { blockCodes, lowered, nodeOf } from './lowered.js';

const mustRun = ({ code }: Block): boolean => code.includes('must()');

/** The names of the labels whose values are needed. */
function live(expression: string, wanted: boolean): string[] {
  const program = lowered(`start = ${expression}`);
  return [...liveLabels(nodeOf(program, 'start'), wanted, blockCodes(), mustRun)].map(({ name }) => name).sort();
}

test('labels that an action mentions, if its value is used', () => {
  expect(live('a:"a" b:"b" c:"c" { return [a, c]; }', true)).toEqual(['a', 'c']);
  expect(live('a:"a" b:"b" c:"c" { return [a, c]; }', false)).toEqual([]);
});

test('labels of actions with an effect, in any case', () => {
  expect(live('a:"a" b:"b" { must(); return a; }', false)).toEqual(['a']);
});

test('labels of predicates and of bounds, in any case', () => {
  expect(live('a:"a" b:"b" &{ return a; }', false)).toEqual(['a']);
  expect(live('n:("a" { return 2; }) "x"|n| b:"b"', false)).toEqual(['n']);
});

test('labels inside of a label only if that one is used', () => {
  const inner = '(a:"a" { return a; })';
  expect(live(`x:${inner} { return x; }`, true)).toEqual(['a', 'x']);
  expect(live(`x:${inner} { return 1; }`, true)).toEqual([]);
});

test('labels in parts that a pick discards are not needed', () => {
  const inner = (name: string): string => `(${name}:"a" { return ${name}; })`;
  expect(live(`${inner('a')} @${inner('b')}`, true)).toEqual(['b']);
  expect(live(`$(${inner('a')})`, true)).toEqual([]);
  expect(live(`&(${inner('a')}) "a"`, true)).toEqual([]);
});

test('names of properties are not labels', () => {
  expect(live('a:"a" b:"b" { return b.a + { a: 1 }.a; }', true)).toEqual(['b']);
});
