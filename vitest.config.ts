import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.long.test.ts'],
    globalSetup: ['./test/helpers/compile-sources.ts'],
    setupFiles: ['./test/helpers/plain-environment.ts'],
    reporters: ['default', './test/helpers/summary-reporter.ts'],
    // Property tests and the packed-package test run on slow, shared machines too.
    testTimeout: 60_000,
    // By default one core is left idle.
    maxWorkers: '100%',
    hookTimeout: 240_000,
  },
});
