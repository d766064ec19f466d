import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests that start programs, servers and the packed package: `npm run test:programs`. */
export const PROGRAMS = 'test/**/*.programs.test.ts';
/** Long forms of tests: `npm run test:long`. */
export const LONG = 'test/**/*.long.test.ts';

/**
 * Files that get a worker each: they mock modules, change the environment, the clock or the process, count in modules, or measure memory. All
 * others share the modules of their worker, whose loading takes a third of the time otherwise.
 */
const APART = [
  'test/{async,channels,storage}/*.test.ts',
  'test/{clock-jumps,conformance/aacp-fallback,grammar-export/codemirror,text/lazy-errors}.test.ts',
  'test/aacp/dispatch/{dispatcher,file-audit}.test.ts',
  'test/aacp/fallback/{default-registry,unwritable}.test.ts',
  'test/aacp/models/*.test.ts',
  'test/aacp/registry/{sqlite,sqlite-privacy}.test.ts',
  'test/aacp/requirements/sensitive.test.ts',
  'test/accp/bindings/{frame-splitter,websocket-closing,websocket-leaving,websocket-window}.test.ts',
  'test/accp/session/own-text.test.ts',
  'test/arcp/{broker,ids,own-thread,store}.test.ts',
  'test/arcp/faults/*.test.ts',
  'test/arcp/runtime/jobs.test.ts',
  'test/cli/commands/{aacp/aacp,aacp/registry,encode/english}.test.ts',
  'test/cli/io/{color,input,unwritable}.test.ts',
];
const OTHERS = [PROGRAMS, LONG];

/** Settings of all test runs. */
export const common = {
  globalSetup: ['./test/helpers/required-servers.ts', './test/helpers/compile-sources.ts'],
  setupFiles: ['./test/helpers/plain-environment.ts', './test/helpers/fixed-seed.ts'],
  reporters: ['default', './test/helpers/summary-reporter.ts'],
  // The default leaves one core idle.
  maxWorkers: '100%',
  // Property tests run on slow, shared machines too.
  testTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  hookTimeout: 240_000,
};

export default defineConfig({
  test: {
    ...common,
    // Many tests wait for a server or a deadline. Those that start programs keep the cores busy.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: [...OTHERS, ...APART], isolate: false },
      },
      { extends: true, test: { name: 'apart', include: APART, exclude: OTHERS } },
    ],
  },
});
