import process from 'node:process';

/** `true` in `npm run test:long`. */
const IS_LONG = process.env['LONG_RUNS'] !== undefined;

/** Returns the number of runs of a property: a third of `count` in `npm test`, and twenty times `count` in `npm run test:long`. */
export function runs(count: number): { numRuns: number } {
  return { numRuns: IS_LONG ? 20 * count : Math.ceil(count / 3) };
}

/**
 * Returns the size of a test, or the part of its cases: `short` in `npm test`, and `long` in `npm run test:long`. `vitest.long.config.ts` lists the
 * files that call this.
 */
export function sized<T>(short: T, long: T): T {
  return IS_LONG ? long : short;
}

/** Returns every `step`th item in `npm test`, beginning with the first, and all of them in `npm run test:long`. */
export function sampled<T>(items: readonly T[], step: number): readonly T[] {
  return sized(
    items.filter((_, at) => at % step === 0),
    items,
  );
}
