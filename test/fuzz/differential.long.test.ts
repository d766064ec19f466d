/** The five parsers of each language on many mutants: `npm run test:long`. */
import { expect, test } from 'vitest';
import { LANGUAGES } from './languages.js';
import { compareShare } from './share.js';

const MUTANTS = 50_000;

test.each(LANGUAGES)(`the parsers agree on ${MUTANTS} mutants: $protocol, $dialect`, (language) => {
  const { accepted, refused, found } = compareShare({ language, count: MUTANTS, seed: 2, ohmEvery: 1 });
  expect(found).toEqual([]);
  expect(accepted).toBeGreaterThan(MUTANTS / 5);
  if (language.dialect === 'tolerant') expect(refused).toBe(0);
  else expect(refused).toBeGreaterThan(MUTANTS / 5);
});
