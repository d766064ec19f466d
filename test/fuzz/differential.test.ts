/** The generated parsers against the Ohm grammars, on random texts and on the corpus of interesting ones. */
import { describe, expect, test } from 'vitest';
import { compare, compareMany, corpus, LANGUAGES } from './compare.js';

const RUNS: Readonly<Record<string, number>> = {
  'accp strict': 2600,
  'accp lenient': 2600,
  'aacp strict': 3600,
  'aacp tolerant': 1500,
};

test.each(['accp', 'aacp'])(
  '%s: same verdict and same tree for random texts, many accepted, many refused',
  (protocol) => {
    let accepted = 0;
    let refused = 0;
    for (const language of LANGUAGES.filter((candidate) => candidate.protocol === protocol)) {
      const tally = compareMany(language, RUNS[`${protocol} ${language.dialect}`]!);
      accepted += tally.accepted;
      refused += tally.refused;
    }
    const total = accepted + refused;
    expect(total).toBeGreaterThanOrEqual(5000);
    expect(accepted / total).toBeGreaterThan(0.2);
    expect(refused / total).toBeGreaterThan(0.2);
  },
);

describe('corpus: same verdict and same tree', () => {
  const cases = corpus().map((input) => ({ input, shown: JSON.stringify(input.text) }));

  test.each(cases)('$input.protocol, $input.dialect: $shown', ({ input }) => {
    const { parser, oracle } = compare(input);
    expect(parser).toStrictEqual(oracle);
  });
});
