import { defineConfig } from 'vitest/config';

/**
 * Files with a worker of their own: they stand in for modules, change the environment, the clock or the process, count in modules, or
 * measure memory. All others share what their worker has loaded, which else takes a third of the time.
 */
const APART = [
  'test/{bindings,package,storage}/*.test.ts',
  'test/{clock-jumps,conformance/aacp-fallback,engine/export/codemirror,text/told-errors}.test.ts',
  'test/aacp/dispatch/{dispatcher,file-audit}.test.ts',
  'test/aacp/fallback/{default-registry,unwritable}.test.ts',
  'test/aacp/fallback/models/*.test.ts',
  'test/aacp/fallback/registry/{sqlite,sqlite-privacy}.test.ts',
  'test/aacp/requirements/sensitive.test.ts',
  'test/accp/bindings/{frame-splitter,websocket-closing,websocket-leaving,websocket-window}.test.ts',
  'test/accp/session/own-text.test.ts',
  'test/acp/spawn.test.ts',
  'test/arcp/{broker,ids,sandbox,store}.test.ts',
  'test/arcp/faults/*.test.ts',
  'test/arcp/runtime/jobs.test.ts',
  'test/cli/{aacp,aacp-registry,acp-run,color,encode-aacp-english,input,unwritable}.test.ts',
  'test/engine/differential/process-target.test.ts',
];
const LONG = 'test/**/*.long.test.ts';

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: [LONG, ...APART], isolate: false },
      },
      { extends: true, test: { name: 'apart', include: APART, exclude: [LONG] } },
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
