import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TEST_SEED } from './fixed-seed.js';

/** The integers that a property is tried with. */
function drawn(parameters?: fc.Parameters<[number]>): number[] {
  const values: number[] = [];
  fc.assert(
    fc.property(fc.integer(), (value) => {
      values.push(value);
    }),
    parameters,
  );
  return values;
}

test('a property is tried with the same values in each run, and with others where another seed is set', () => {
  expect(drawn()).toEqual(drawn({ seed: TEST_SEED }));
  expect(drawn()).not.toEqual(drawn({ seed: TEST_SEED + 1 }));
});
