import { expect, test } from 'vitest';
import { convertedLabels } from '../../src/peggy-fast/conversions.js';
import { Texts } from '../../src/peggy-fast/texts.js';
import { blockCodes, lowered } from './lowered.js';

/** The labels of which only the number or the joined text is used, with the functions that convert them. */
function conversions(grammar: string): Record<string, string> {
  const program = lowered(grammar);
  const codeOf = blockCodes();
  const converted = convertedLabels(program, codeOf, new Texts(program, codeOf), new Set());
  return Object.fromEntries([...converted].map(([{ name }, how]) => [name, how]));
}

test.each([
  ['start = n:$[0-9]+ { return Number(n); }', { n: 'Number' }],
  ['start = n:$[0-9]+ { return parseInt(n, 10) + 1; }', { n: 'parseInt' }],
  ['start = n:$[1-9]+ { return [parseFloat(n), parseFloat(n)]; }', { n: 'parseFloat' }],
])('digits that only become a number: %s', (grammar, expected) => {
  expect(conversions(grammar)).toEqual(expected);
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
  expect(conversions(grammar)).toEqual({});
});

test.each([
  ['characters', 'start = c:[a-z]* { return c.join(""); }'],
  ['stretches and escapes', `start = c:($[a-z]+ / "\\\\" @.)+ { return { c: c.join('') }; }`],
  [
    'rules',
    'start = c:item* { return c.join("").length; }\nitem = letter / "-" letter { return text(); }\nletter = [a-z]',
  ],
  [
    'strings of code',
    'start = c:("n" { return "\\n"; } / n:$[0-9] { return String.fromCharCode(n); } / .)* { return c.join(""); }',
  ],
  ['more labels', 'start = h:"x" c:(d:. { return d + "!"; })* { return h + c.join(""); }'],
])('items that only become one text: %s', (_name, grammar) => {
  expect(conversions(grammar)).toEqual({ c: 'join' });
});

test.each([
  ['the items are wanted, too', 'start = c:.* { return [c, c.join("")]; }'],
  ['a separator', 'start = c:.* { return c.join(","); }'],
  ['the separator by default', 'start = c:.* { return c.join(); }'],
  ['items between delimiters', 'start = c:.|.., ","| { return c.join(""); }'],
  ['a number of items', 'start = c:.|2| { return c.join(""); }'],
  ['items that may be something else', 'start = c:(n:. { return Number(n); })* { return c.join(""); }'],
  ['items that are arrays', 'start = c:("a" "b")* { return c.join(""); }'],
  ['a label that may be no list', 'start = c:item { return c.join(""); }\nitem = "a"*'],
  ['code with statements of its own', 'start = c:.* { const all = c.join(""); return all; }'],
  ['an optional call', 'start = c:.* { return c?.join(""); }'],
])('not: %s', (_name, grammar) => {
  expect(conversions(grammar)).toEqual({});
});
