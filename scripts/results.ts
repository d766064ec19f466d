/**
 * Writes the pages and charts of `bench/results` from the last full run and the token counts; with --check, compares them with what is there.
 *
 *     npx tsx scripts/results.ts
 *     npx tsx scripts/results.ts --check
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { readCompactTokens } from '../bench/compact/report.js';
import { compactTable } from '../bench/compact-table.js';
import { packetTokenTable } from '../bench/packet-token-table.js';
import { readWorkflow } from '../bench/packet-tokens.js';
import { renderTable } from '../bench/render-table.js';
import { charts, resultsPage } from '../bench/summary.js';
import { readTable9, tokenTable } from '../bench/token-table.js';
import type { Report } from '../src/bench/result.js';

const FOLDER = new URL('../bench/results/', import.meta.url);

const report = JSON.parse(readFileSync(new URL('latest.json', FOLDER), 'utf8')) as Report;
const files = {
  ...charts(report),
  'README.md': resultsPage(report),
  'tokens.md': `# Token results

\`npx tsx scripts/results.ts\` recounts these tables; \`pegwire tokens\` and \`pegwire render --tokens\` count messages of your own.

## Text for models

${await renderTable()}

## Compact frames between two sides

${compactTable(readCompactTokens())}

## ACCP frames

${await tokenTable(readTable9())}

## AACP packets

${await packetTokenTable(readWorkflow())}
`,
};

for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, FOLDER);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`bench/results/${name} is not up to date: run npx tsx scripts/results.ts`);
    process.exitCode = 1;
  }
}
