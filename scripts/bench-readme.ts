/**
 * Puts the results of `npm run bench` into the README, between `<!-- bench:start -->` and `<!-- bench:end -->`.
 *
 *     npx tsx scripts/bench-readme.ts
 *     npx tsx scripts/bench-readme.ts --check
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { summary } from '../bench/summary.js';
import type { Report } from '../src/bench/result.js';

const README = new URL('../README.md', import.meta.url);
const RESULTS = new URL('../bench/results/latest.json', import.meta.url);
const BLOCK = /(<!-- bench:start -->\n)[\s\S]*?(<!-- bench:end -->)/;

function main(check: boolean): number {
  const readme = readFileSync(README, 'utf8');
  if (!BLOCK.test(readme)) {
    console.error('README.md has no <!-- bench:start --> and <!-- bench:end --> to write between.');
    return 1;
  }
  const report = JSON.parse(readFileSync(RESULTS, 'utf8')) as Report;
  // A function, so that no dollar sign in the results is taken for a pattern.
  const written = readme.replace(BLOCK, (_all, start: string, end: string) => `${start}\n${summary(report)}\n${end}`);
  if (check) {
    if (written !== readme)
      console.error('The README does not show the latest results: npx tsx scripts/bench-readme.ts');
    return written === readme ? 0 : 1;
  }
  writeFileSync(README, written);
  return 0;
}

process.exitCode = main(process.argv.includes('--check'));
