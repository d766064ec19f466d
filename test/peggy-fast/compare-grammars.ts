/** Random texts for a grammar, through stock and fast parsers. */
import fc from 'fast-check';
import { agree, type Comparison, compare, type Parsers } from './agreement.js';
import { type Grammar, optionsFor } from './grammars.js';
import { mutants } from './mutants.js';

/** The numbers of accepted and rejected texts, and of those with another outcome. */
export interface Tally {
  accepted: number;
  refused: number;
  thrown: number;
}

/** A disagreement between parsers, in a form that can be repeated. */
export function disagreement(grammar: Grammar, rule: string, text: string, { stock, fast }: Comparison): Error {
  const place = `${grammar.name}, rule ${rule}, text ${JSON.stringify(text)}`;
  return new Error(`${place}\nstock: ${fc.stringify(stock)}\nfast: ${fc.stringify(fast)}`);
}

/**
 * Compares at least `count` random texts, and at least `each` for each start rule, with any of the parse options of a
 * grammar. The texts are the same in every run.
 *
 * @throws on a disagreement, with a smaller text that shows it
 */
export function compareMutants(grammar: Grammar, parsers: Parsers, count: number, each: number): Tally {
  const tally: Tally = { accepted: 0, refused: 0, thrown: 0 };
  const rules = Object.keys(grammar.rules);
  for (const rule of rules) {
    const options = fc.constantFrom(...grammar.options);
    const agrees = fc.property(mutants(grammar, rule), options, (text, chosen) => {
      const comparison = compare(parsers, text, optionsFor(rule, chosen));
      tally[comparison.stock.kind]++;
      if (!agree(comparison)) throw disagreement(grammar, rule, text, comparison);
    });
    fc.assert(agrees, { numRuns: Math.ceil(Math.max(each, count / rules.length)), seed: 1 });
  }
  return tally;
}
