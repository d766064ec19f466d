import { defineConfig } from 'vitest/config';
import { common, LONG } from './vitest.config.js';

/** The long proofs: the same properties as `npm test`, with many more runs. */
export default defineConfig({
  test: {
    ...common,
    include: [
      LONG,
      'test/**/laws.test.ts',
      'test/accp/message/round-trip.test.ts',
      'test/accp/render/render-for-context.test.ts',
      'test/accp/streams/*.test.ts',
      'test/arcp/faults/*.test.ts',
      'test/tokens/{load-counter,upper-bound}.test.ts',
    ],
    env: { LONG_RUNS: '1' },
    testTimeout: 1_800_000,
  },
});
