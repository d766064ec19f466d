import { defineConfig } from 'vitest/config';

/** The long proofs: the same properties as `npm test`, with many more runs. */
export default defineConfig({
  test: {
    include: [
      'test/**/*.long.test.ts',
      'test/**/laws.test.ts',
      'test/accp/message/round-trip.test.ts',
      'test/accp/render/render-for-context.test.ts',
      'test/accp/streams/*.test.ts',
      'test/arcp/faults/*.test.ts',
      'test/tokens/{load-counter,upper-bound}.test.ts',
    ],
    env: { LONG_RUNS: '1' },
    maxWorkers: '100%',
    globalSetup: ['./test/helpers/compile-sources.ts'],
    setupFiles: ['./test/helpers/plain-environment.ts', './test/helpers/fixed-seed.ts'],
    reporters: ['default', './test/helpers/summary-reporter.ts'],
    testTimeout: 1_800_000,
  },
});
