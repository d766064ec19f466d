import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TEST_SEED } from './fixed-seed.js';

/** Returns the integers that a property is run with. */
function values(parameters?: fc.Parameters<[number]>): number[] {
  const drawn: number[] = [];
  fc.assert(
    fc.property(fc.integer(), (value) => {
      drawn.push(value);
    }),
    parameters,
  );
  return drawn;
}

test('a property runs with the same values for the same seed, and with others for another seed', () => {
  expect(values()).toEqual(values({ seed: TEST_SEED }));
  expect(values()).not.toEqual(values({ seed: TEST_SEED + 1 }));
});
