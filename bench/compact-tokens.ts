/**
 * Counts the tokens of compact frames, plain frames, JSON and TOON with seven tokenizers, and writes `results/compact-tokens.json`, from which
 * `scripts/results.ts` writes the tables.
 *
 *     npm ci --prefix bench/tokenizers
 *     npm run bench:tokens
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadTokenCounter } from '../src/tokens/load-counter.js';
import { countsOf, rowOf, writeAll } from './compact/measure.js';
import { write } from './compact/report.js';
import { FORMS } from './compact/session-texts.js';
import { loadTokenizer, TOKENIZERS } from './compact/tokenizers.js';
import { projectRoot } from './root.js';

const { measured, announcements, registries } = writeAll(await loadTokenCounter('o200k_base'));
const older = writeAll(await loadTokenCounter('cl100k_base')).measured;
const tokens: number[][][] = measured.map(() => []);
for (const name of TOKENIZERS) {
  const count = await loadTokenizer(name);
  const texts = name === 'cl100k' ? older : measured;
  for (const [index, { written }] of texts.entries()) tokens[index]!.push(countsOf(written, count));
}
const rows = measured.map((one, index) => rowOf(one, tokens[index]!));
const file = path.join(projectRoot(), 'bench/results/compact-tokens.json');
writeFileSync(file, write({ tokenizers: TOKENIZERS, forms: FORMS, announcements, registries, rows }));
