/**
 * Counts the rows of the draft's tokenisation table and puts them into the guide of `src/aacp`, between
 * `<!-- packet token table -->` and `<!-- /packet token table -->`; with --check compares what is there, with --print writes to
 * stdout.
 *
 *     npx tsx scripts/packet-tokens.ts
 *     npx tsx scripts/packet-tokens.ts --check
 *     npx tsx scripts/packet-tokens.ts --print
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { packetTokenTable } from '../bench/packet-token-table.js';
import { readWorkflow } from '../bench/packet-tokens.js';

const NAME = 'src/aacp/README.md';
const GUIDE = new URL(`../${NAME}`, import.meta.url);
const BLOCK = /(<!-- packet token table -->\n)[\s\S]*?(<!-- \/packet token table -->)/;

async function main(args: readonly string[]): Promise<number> {
  const table = await packetTokenTable(readWorkflow());
  if (args.includes('--print')) {
    console.log(table);
    return 0;
  }
  const guide = readFileSync(GUIDE, 'utf8');
  if (!BLOCK.test(guide)) {
    console.error(`${NAME} has no <!-- packet token table --> and <!-- /packet token table --> to write between.`);
    return 1;
  }
  // A function, so that no dollar sign in the table is taken for a pattern.
  const written = guide.replace(BLOCK, (_all, start: string, end: string) => `${start}\n${table}\n\n${end}`);
  if (args.includes('--check')) {
    if (written !== guide) console.error(`${NAME} does not show the counts: npx tsx scripts/packet-tokens.ts`);
    return written === guide ? 0 : 1;
  }
  writeFileSync(GUIDE, written);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
