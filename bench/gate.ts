/**
 * The goals, each with its floor: exit code 1 when one of them does not hold.
 *
 *     npm run bench:gate
 */
import process from 'node:process';
import { launch } from './launch.js';

process.exitCode = await launch('suites/gate.js', process.argv.slice(2));
