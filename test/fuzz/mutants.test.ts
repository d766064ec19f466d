import { expect, test } from 'vitest';
import { LANGUAGES } from './languages.js';
import { MAX_LENGTH, mutants } from './mutants.js';

test.each(LANGUAGES)('the same seed gives the same mutants: $protocol, $dialect', (language) => {
  const first = mutants(language, 7);
  const second = mutants(language, 7);
  const other = mutants(language, 8);
  const different = new Set<string>();
  let same = 0;
  for (let index = 0; index < 300; index++) {
    const text = first.next().value;
    expect(second.next().value).toBe(text);
    if (other.next().value === text) same++;
    expect(text.length).toBeLessThanOrEqual(MAX_LENGTH);
    different.add(text);
  }
  expect(different.size).toBeGreaterThan(250);
  expect(same).toBeLessThan(10);
});
