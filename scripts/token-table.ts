/**
 * Counts the rows of the draft's Table 9 and puts them into the README, between `<!-- token table -->` and
 * `<!-- /token table -->`; with --check compares what is there, with --print writes to stdout.
 *
 *     npx tsx scripts/token-table.ts
 *     npx tsx scripts/token-table.ts --check
 *     npx tsx scripts/token-table.ts --print
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { readTable9, tokenTable } from '../bench/token-table.js';

const README = new URL('../README.md', import.meta.url);
const BLOCK = /(<!-- token table -->\n)[\s\S]*?(<!-- \/token table -->)/;

async function main(args: readonly string[]): Promise<number> {
  const table = await tokenTable(readTable9());
  if (args.includes('--print')) {
    console.log(table);
    return 0;
  }
  const readme = readFileSync(README, 'utf8');
  if (!BLOCK.test(readme)) {
    console.error('README.md has no <!-- token table --> and <!-- /token table --> to write between.');
    return 1;
  }
  // A function, so that no dollar sign in the table is taken for a pattern.
  const written = readme.replace(BLOCK, (_all, start: string, end: string) => `${start}\n${table}\n\n${end}`);
  if (args.includes('--check')) {
    if (written !== readme) console.error('The README does not show the counts: npx tsx scripts/token-table.ts');
    return written === readme ? 0 : 1;
  }
  writeFileSync(README, written);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
