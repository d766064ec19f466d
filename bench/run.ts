/**
 * The full benchmarks: prints tables, writes results/latest.json.
 *
 *     npm run bench
 *     npm run bench -- --only accp,printing --rounds 9
 *
 * `scripts/results.ts` writes the pages from them.
 */
import process from 'node:process';
import { launch } from './launch.js';

process.exitCode = await launch('suites/full.js', process.argv.slice(2));
