import { defineConfig } from 'vitest/config';
import { common, LONG } from './vitest.config.js';

/** Files with a short form in `npm test` or `npm run test:programs`: those that use `sized` or `sampled` of `test/helpers/runs.ts`, themselves or in their helpers. */
export const SIZED: readonly string[] = [
  'test/aacp/fallback/explain.test.ts',
  'test/aacp/registry/bulk.test.ts',
  'test/aacp/registry/registry.test.ts',
  'test/acp/http/faults.test.ts',
  'test/accp/compact/lossless.test.ts',
  'test/accp/message/hostile.test.ts',
  'test/accp/session/hostile.test.ts',
  'test/accp/session/lossy-line.test.ts',
  'test/accp/store/journal.test.ts',
  'test/accp/store/store.test.ts',
  'test/arcp/many-connections.test.ts',
  'test/arcp/quic/network.programs.test.ts',
  'test/arcp/runtime/elsewhere.test.ts',
  'test/arcp/store-postgres.programs.test.ts',
  'test/channels/queue/faults.test.ts',
  'test/cli/linear.test.ts',
  'test/fuzz/differential.test.ts',
  'test/fuzz/faults.test.ts',
  'test/fuzz/grammar/compile.test.ts',
  'test/fuzz/mutants/mutate.test.ts',
  'test/fuzz/sentences/generate.test.ts',
  'test/grammar-export/amplifiers.test.ts',
  'test/grammar-export/backtracking.test.ts',
  'test/grammar-export/lower/exactness.test.ts',
  'test/grammar-export/many-alternatives.test.ts',
  'test/grammar-export/random.test.ts',
  'test/oracle/ohm.test.ts',
  'test/peggy-fast/agreement.test.ts',
  'test/peggy-fast/corners.test.ts',
  'test/peggy-fast/pathological.test.ts',
];

/** The long proofs: the same properties as `npm test`, with many more runs. */
export default defineConfig({
  test: {
    ...common,
    include: [
      LONG,
      ...SIZED,
      'test/**/laws.test.ts',
      'test/aacp/bindings/*.test.ts',
      'test/accp/message/round-trip.test.ts',
      'test/grammar-export/textmate.test.ts',
      'test/accp/render/render-for-context.test.ts',
      'test/accp/streams/*.test.ts',
      'test/arcp/faults/*.test.ts',
      'test/arcp/quic/*.programs.test.ts',
      'test/tokens/{load-counter,upper-bound}.test.ts',
    ],
    env: { LONG_RUNS: '1' },
    testTimeout: 1_800_000,
  },
});
