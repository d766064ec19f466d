import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/peggy-fast/facts.js';
import type { Block } from '../../src/peggy-fast/ir.js';
import { Lexemes } from '../../src/peggy-fast/lexemes.js';
import { lowered, nodeOf } from './lowered.js';

/** Here, code that calls `must()` has an effect. */
const mustRun = ({ code }: Block): boolean => code.includes('must()');

/** Returns `true` if the first of two expressions can be skipped before the second one. */
function isCovered(one: string, later: string, rules = ''): boolean {
  const program = lowered(`one = ${one}\nlater = ${later}\n${rules}`);
  const lexemes = new Lexemes(program, new Facts(program, mustRun));
  return lexemes.isCovered(nodeOf(program, 'one'), nodeOf(program, 'later'));
}

const WORDS = 'word = [a-z]+\nend = ![a-z] !"!"';

describe('an alternative that can be skipped', () => {
  test.each([
    ['"if" ![a-z]', '[a-z]+'],
    ['[a-z]+', '[a-z]+'],
    ['[ab]+ ![a-z]', '[a-z]+'],
    ['"if" ![a-z] / "else" ![a-z]', '[a-z]+'],
    ['"if" [0-9a-c] ![a-z0-9]', '[a-z0-9]+'],
    ['"IF"i ![A-Za-z]', '[A-Za-z]+'],
    ['&[i] "if" ![a-z] / "else" ![a-z]', 'word'],
    ['name:$("if" ![a-z]) { return name; }', 'text:$word { return text; }'],
    ['"if" end', 'word !"!"'],
    ['"if" end &{ return true; }', 'word !"!"'],
  ])('%s, before %s', (one, later) => {
    // A condition before the first symbol is more than a lexeme expresses.
    expect(isCovered(one, later, WORDS)).toBe(!one.startsWith('&'));
  });
});

describe('an alternative that must be tried', () => {
  test.each([
    ['a beginning', '"if"', '[a-z]+'],
    ['other symbols', '"i1" ![a-z]', '[a-z]+'],
    ['what may follow', '"if" ![a-y]', '[a-z]+'],
    ['what the later one asks of what follows', '"if" ![a-z]', '[a-z]+ !"!"'],
    ['a later one that is more than a run', '"if" ![a-z]', '[a-z]+ &{ return false; }'],
    ['a later one that ends early', '"if" ![a-z]', '[a-z]|1..2|'],
    ['a later one that may be empty', '"if" ![a-z]', '[a-z]*'],
    ['a later one of several', '"if" ![a-z]', '[a-z]+ / [0-9]+'],
    ['an effect', '"if" ![a-z] { must() }', '[a-z]+'],
    ['an effect of the later one', '"if" ![a-z]', '[a-z]+ { must() }'],
    ['what is recursive', '"i" one / "f" ![a-z]', '[a-z]+'],
    ['what is optional', '"i" "f"? ![a-z]', '[a-z]+'],
  ])('for %s: %s, before %s', (_, one, later) => {
    expect(isCovered(one, later)).toBe(false);
  });
});

test('rules that mention others twice, recursively, are examined once', () => {
  const rules = Array.from({ length: 40 }, (_, index) => `r${index} = r${index + 1} / r${index + 1}`);
  expect(isCovered('r0', '[a-z]+', `${rules.join('\n')}\nr40 = "a" ![a-z]`)).toBe(false);
});
