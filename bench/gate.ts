/**
 * Compares each goal with its floor. Exits with code 1 if one is not reached.
 *
 *     npm run bench:gate
 */
import process from 'node:process';
import { launch } from './launch.js';

process.exitCode = await launch('suites/gate.js', process.argv.slice(2));
