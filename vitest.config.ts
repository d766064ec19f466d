import { defineConfig } from 'vitest/config';

/**
 * Tests of functions that keep nothing to themselves: their files share what a worker has loaded, which else takes a third of the
 * time. Files that stand in for modules, change the environment or measure memory have a worker of their own.
 */
const SHARED = [
  'test/conformance/!(aacp-fallback).test.ts',
  'test/engine/**/!(codemirror).test.ts',
  'test/{fuzz,oracle}/*.test.ts',
  'test/text/!(told-errors).test.ts',
  'test/{accp,aacp}/*.test.ts',
  'test/accp/{codec,message,profiles,render,streams}/*.test.ts',
  'test/aacp/{build,dispatch,encoders,lint}/*.test.ts',
];
const LONG = 'test/**/*.long.test.ts';

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'shared', include: SHARED, exclude: [LONG], isolate: false } },
      { extends: true, test: { name: 'apart', include: ['test/**/*.test.ts'], exclude: [LONG, ...SHARED] } },
    ],
    globalSetup: ['./test/helpers/compile-sources.ts'],
    setupFiles: ['./test/helpers/plain-environment.ts', './test/helpers/fixed-seed.ts'],
    reporters: ['default', './test/helpers/summary-reporter.ts'],
    // Property tests and the packed-package test run on slow, shared machines too.
    testTimeout: 60_000,
    // By default one core is left idle.
    maxWorkers: '100%',
    hookTimeout: 240_000,
  },
});
