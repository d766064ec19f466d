import process from 'node:process';
import type { Reporter, TestModule } from 'vitest/node';

/** The default seed of property tests. */
export const DEFAULT_SEED = '1';

/** Prints the closing line `N passed, N failed, N skipped`; a file that failed to load counts as one failure. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    for (const module of modules) {
      if (module.errors().length > 0) failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else {
          skipped++;
          // The name of a test that requires a missing program contains that program.
          if (test.fullName.includes('(skipped: ')) console.log(test.fullName);
        }
      }
    }
    console.log(
      `Property tests ran with seed ${process.env['PEGWIRE_TEST_SEED'] ?? DEFAULT_SEED}; PEGWIRE_TEST_SEED sets another.`,
    );
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
}
