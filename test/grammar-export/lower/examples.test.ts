/** Grammars by other authors: the examples of PEG.js. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { difference, pairOf } from './compare.js';
import { shown } from './show.js';
import { textsOver } from './texts.js';

function exampleOf(name: string): string {
  return readFileSync(new URL(`../../../node_modules/pegjs/examples/${name}.pegjs`, import.meta.url), 'utf8');
}

test('arithmetics: equal, without approximations', () => {
  const pair = pairOf(exampleOf('arithmetics'));
  expect(pair.grammar.approximations).toEqual([]);
  expect(shown(pair.grammar)).toEqual([
    'Expression = Term (_ [+\\-] _ Term)*',
    'Term = Factor (_ [*/] _ Factor)*',
    'Factor = "(" _ Expression _ ")" / Integer',
    'Integer = [0-9]+',
    '_ = [\\u{9}-\\u{a}\\u{d}\\u{20}]*',
  ]);
  expect(difference(pair, textsOver('(1+* )', 4))).toEqual({ lost: [], added: [] });
});

test('JSON: equal, without approximations, although white space is ambiguous', () => {
  const pair = pairOf(exampleOf('json'));
  expect(pair.grammar.approximations).toEqual([]);
  expect(difference(pair, textsOver('[{"1 ,]', 4))).toEqual({ lost: [], added: [] });
  const texts = [
    '{"a":[1,-0.5e+3,true],"\u{1f600}":null}',
    '{"a":1,}',
    '[01]',
    '"\\u12aF\\n"',
    '"\\x"',
    '[ [ ] , { } ]',
  ];
  expect(texts.map(pair.has)).toEqual([true, false, false, true, false, true]);
});

test('CSS: nothing is lost, and approximations name the unproved parts', () => {
  const pair = pairOf(exampleOf('css'));
  expect(pair.grammar.approximations.length).toBeGreaterThan(0);
  const texts = [
    '',
    '@charset "x";',
    'a{}',
    'a , b > c.d#e:hover { color : #fff ; margin: -1.5em 0 !important }',
    '@media print { a { b: url(x.png) } } /* the end **/',
    "@import 'x' screen;\n* { content: '\u{1f600}\\'' }",
    '\u00e9\u{1f600} { a: f(1, 2) }',
  ];
  expect(texts.filter(pair.accepts)).toEqual(texts);
  expect(texts.filter((text) => !pair.has(text))).toEqual([]);
});
