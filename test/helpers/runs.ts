import process from 'node:process';

/** How often a property is tried: `count` times in `npm test`, twenty times as often in `npm run test:long`. */
export function runs(count: number): { numRuns: number } {
  return { numRuns: process.env['LONG_RUNS'] === undefined ? count : 20 * count };
}
