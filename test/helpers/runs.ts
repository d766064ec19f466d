import process from 'node:process';

/** Returns the number of runs of a property: a third of `count` in `npm test`, and twenty times `count` in `npm run test:long`. */
export function runs(count: number): { numRuns: number } {
  return { numRuns: process.env['LONG_RUNS'] === undefined ? Math.ceil(count / 3) : 20 * count };
}
