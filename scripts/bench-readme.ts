/**
 * Puts the results of `npm run bench` into the README, between `<!-- bench:start -->` and `<!-- bench:end -->`, and those of the
 * plugin between `<!-- plugin:start -->` and `<!-- plugin:end -->`.
 *
 *     npx tsx scripts/bench-readme.ts
 *     npx tsx scripts/bench-readme.ts --check
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pluginSummary, summary } from '../bench/summary.js';
import type { Report } from '../src/bench/result.js';

const README = new URL('../README.md', import.meta.url);
const RESULTS = new URL('../bench/results/latest.json', import.meta.url);
const BLOCKS: Readonly<Record<string, (report: Report) => string>> = { bench: summary, plugin: pluginSummary };

function main(check: boolean): number {
  const readme = readFileSync(README, 'utf8');
  const report = JSON.parse(readFileSync(RESULTS, 'utf8')) as Report;
  let written = readme;
  for (const [name, text] of Object.entries(BLOCKS)) {
    const block = new RegExp(`(<!-- ${name}:start -->\\n)[\\s\\S]*?(<!-- ${name}:end -->)`);
    if (!block.test(readme)) {
      console.error(`README.md has no <!-- ${name}:start --> and <!-- ${name}:end --> to write between.`);
      return 1;
    }
    // A function, so that no dollar sign in the results is taken for a pattern.
    written = written.replace(block, (_all, start: string, end: string) => `${start}\n${text(report)}\n\n${end}`);
  }
  if (check) {
    if (written !== readme)
      console.error('The README does not show the latest results: npx tsx scripts/bench-readme.ts');
    return written === readme ? 0 : 1;
  }
  writeFileSync(README, written);
  return 0;
}

process.exitCode = main(process.argv.includes('--check'));
