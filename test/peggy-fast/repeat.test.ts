import { expect, test } from 'vitest';
import { numberLabels } from '../../src/peggy-fast/repeat.js';
import { blockCodes, lowered } from './lowered.js';

/** The labels of which only the number is used, with the functions that convert it. */
function numbers(grammar: string): Record<string, string> {
  const program = lowered(grammar);
  return Object.fromEntries([...numberLabels(program, blockCodes())].map(([{ name }, how]) => [name, how]));
}

test.each([
  ['start = n:$[0-9]+ { return Number(n); }', { n: 'Number' }],
  ['start = n:$[0-9]+ { return parseInt(n, 10) + 1; }', { n: 'parseInt' }],
  ['start = n:$[1-9]+ { return [parseFloat(n), parseFloat(n)]; }', { n: 'parseFloat' }],
])('digits that only become a number: %s', (grammar, expected) => {
  expect(numbers(grammar)).toEqual(expected);
});

test.each([
  ['a label that is wanted as it is, too', 'start = n:$[0-9]+ { return [n, Number(n)]; }'],
  ['two functions', 'start = n:$[0-9]+ { return [parseFloat(n), Number(n)]; }'],
  ['another base', 'start = n:$[0-9]+ { return parseInt(n, 8); }'],
  ['no base', 'start = n:$[0-9]+ { return parseInt(n); }'],
  ['more than digits', 'start = n:$[0-9.]+ { return Number(n); }'],
  ['perhaps no digits', 'start = n:$[0-9]* { return Number(n); }'],
  ['a number of digits', 'start = n:$[0-9]|4| { return Number(n); }'],
  ['an array of digits', 'start = n:[0-9]+ { return Number(n); }'],
  ['a label of that name', 'start = Number:"x" n:$[0-9]+ { return Number(n); }'],
  ['code with statements of its own', 'start = n:$[0-9]+ { const m = Number(n); return m; }'],
  ['a number of repetitions', 'start = n:$[0-9]+ "x"|n| { return Number(n); }'],
  ['another block that wants it as it is', 'start = n:$[0-9]+ &{ return n !== "7"; } { return Number(n); }'],
])('not: %s', (_name, grammar) => {
  expect(numbers(grammar)).toEqual({});
});
