import process from 'node:process';
import fc from 'fast-check';
import { createRandom } from '../../src/text/random.js';
import { DEFAULT_SEED } from './summary-reporter.js';

/** The seed of all property tests and random choices in tests, set by `PEGWIRE_TEST_SEED`. */
export const TEST_SEED = Number(process.env['PEGWIRE_TEST_SEED'] ?? DEFAULT_SEED);
if (!Number.isSafeInteger(TEST_SEED)) throw new TypeError('PEGWIRE_TEST_SEED must be an integer');

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: TEST_SEED });
Math.random = createRandom(TEST_SEED).next;
