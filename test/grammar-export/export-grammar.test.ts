import { expect, test } from 'vitest';
import { compileGrammar } from '../../src/fuzz/grammar/compile.js';
import { approximationsOf, exportGrammar, type GrammarFormat } from '../../src/grammar-export/export-grammar.js';

const nested = compileGrammar(
  'list = "(" (item ("," item)*)? ")"\nitem = list / word\nword = [a-z]+ &{ return text().length < 9; }\n',
  {
    name: 'list',
  },
);

test('a compiled grammar is exported to each format, with the same approximations', () => {
  expect(exportGrammar(nested, { to: 'gbnf' })).toContain(
    'root ::= "(" (item ("," item)*)? ")"\nitem ::= root | word\n',
  );
  expect(exportGrammar(nested, { to: 'lark' })).toContain('start: "(" (item ("," item)*)? ")"\nitem: start | WORD\n');
  expect(exportGrammar(nested, { to: 'abnf' })).toContain(
    'list = "(" [ item *( "," item ) ] ")"\nitem = list / word\n',
  );
  for (const to of ['gbnf', 'lark', 'abnf'] as const) {
    expect(approximationsOf(nested, { to })).toEqual([expect.objectContaining({ code: 'predicate', rule: 'word' })]);
  }
});

test('a depth limit makes it regular', () => {
  expect(() => exportGrammar(nested, { to: 'regex' })).toThrow(
    expect.objectContaining({ code: 'not-regular', rule: 'list' }),
  );
  const text = exportGrammar(nested, { to: 'regex', depth: { rules: ['list'], max: 2 } });
  const regex = new RegExp(text.split('\n').at(-2)!.slice(1, -2), 'u');
  expect(['()', '(a,(),b)', '((()))', '(a', ''].map((input) => regex.test(input))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('an unknown format is rejected, with a suggestion', () => {
  expect(() => exportGrammar(nested, { to: 'regexp' as GrammarFormat })).toThrow(
    /to must be one of .*did you mean 'regex'/,
  );
});
