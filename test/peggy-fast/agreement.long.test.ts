/** The fast and the stock parsers of all grammars on at least 100,000 random texts: `npm run test:long`. */
import { expect, test } from 'vitest';
import { compareMutants } from './compare-grammars.js';
import { allGrammars, compileGrammar } from './grammars.js';

const MUTANTS = 100_000;

const grammars = allGrammars();

test.each(grammars.map((grammar) => ({ grammar, name: grammar.name })))('$name', ({ grammar }) => {
  const count = Math.ceil(MUTANTS / grammars.length);
  const { accepted, refused, thrown } = compareMutants(grammar, compileGrammar(grammar), count, count / 50);
  expect(accepted + refused + thrown).toBeGreaterThanOrEqual(count);
});
