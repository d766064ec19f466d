/** The generated parsers against the Ohm grammars, at length: `npm run test:long`. */
import { expect, test } from 'vitest';
import { compareMany, LANGUAGES } from './compare.js';

const RUNS = 50_000;

test.each(LANGUAGES)(`the parsers agree on ${RUNS} random texts: $protocol, $dialect`, (language) => {
  const { accepted, refused } = compareMany(language, RUNS);
  expect(accepted).toBeGreaterThan(RUNS / 5);
  if (language.dialect === 'tolerant') expect(refused).toBe(0);
  else expect(refused).toBeGreaterThan(RUNS / 5);
});
