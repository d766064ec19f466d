import process from 'node:process';
import type { Reporter, TestModule } from 'vitest/node';

/** The default seed of property tests. */
export const DEFAULT_SEED = '1';

/** The part of a name that says what a test lacks. */
const LACK = /\(skipped: (.*?)\)/;

/** Prints what skipped tests lack, and the closing line `N passed, N failed, N skipped`; a file that failed to load counts as one failure. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    const lacks = new Map<string, number>();
    for (const module of modules) {
      if (module.errors().length > 0) failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else {
          skipped++;
          const lack = LACK.exec(test.fullName)?.[1];
          if (lack !== undefined) lacks.set(lack, (lacks.get(lack) ?? 0) + 1);
        }
      }
    }
    for (const [lack, count] of lacks) console.log(`${count} tests were skipped: ${lack}`);
    console.log(
      `Property tests ran with seed ${process.env['PEGWIRE_TEST_SEED'] ?? DEFAULT_SEED}; PEGWIRE_TEST_SEED sets another.`,
    );
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
}
