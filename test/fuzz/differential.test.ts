/** Five independent parsers of each language, on mutants and on the corpus of interesting texts. */
import { describe, expect, test } from 'vitest';
import { sized } from '../helpers/runs.js';
import { compare } from './compare.js';
import { corpus, LANGUAGES } from './languages.js';
import { compareShare } from './share.js';

const MUTANTS_OF_A_PROTOCOL = sized(600, 1_500);

describe.each(['accp', 'aacp'])('%s', (protocol) => {
  test(`the parsers agree on ${MUTANTS_OF_A_PROTOCOL} mutants, many accepted, many rejected`, () => {
    const languages = LANGUAGES.filter((language) => language.protocol === protocol);
    const count = MUTANTS_OF_A_PROTOCOL / languages.length;
    const tallies = languages.map((language) => compareShare({ language, count, seed: 1, ohmEvery: 1 }));
    expect(tallies.flatMap(({ found }) => found)).toEqual([]);
    for (const [index, { accepted, refused, readers }] of tallies.entries()) {
      const { dialect } = languages[index]!;
      expect(accepted / count).toBeGreaterThan(0.2);
      // The tolerant dialect accepts every text.
      expect(refused / count)[dialect === 'tolerant' ? 'toBe' : 'toBeGreaterThan'](dialect === 'tolerant' ? 0 : 0.2);
      for (const reader of [readers.fast, readers.recognize, readers.ohm]) expect(reader.texts).toBe(count);
      expect(readers.hand.texts).toBe(dialect === 'strict' ? count : 0);
      // The ABNF does not decide about repeated keys and limits.
      if (dialect === 'strict') expect(readers.apg.texts / count).toBeGreaterThan(0.8);
      else expect(readers.apg.texts).toBe(0);
      expect(readers.envelope.texts).toBe(protocol === 'accp' ? count : 0);
    }
  });
});

describe('corpus: the parsers agree', () => {
  const cases = corpus().map((input) => ({ input, shown: JSON.stringify(input.text) }));

  test.each(cases)('$input.protocol, $input.dialect: $shown', ({ input }) => {
    expect(compare(input).disagreements).toEqual([]);
  });
});
