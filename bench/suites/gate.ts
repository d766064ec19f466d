/** The gate: fails if a goal is below its floor. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { sectionTable, textTable } from '../../src/bench/table.js';
import { holdGoals } from './goal-results.js';
import { MEASURES } from './measures.js';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, half: { type: 'string', default: 'unseen' } },
});
const wanted = values.only.split(',');
const names = Object.keys(MEASURES).filter((name) => wanted.some((start) => name.startsWith(start)));
if (names.length === 0 || (values.half !== 'unseen' && values.half !== 'tuning')) {
  console.error(
    `Usage: npm run bench:gate -- [--only MEASURE,...] [--half unseen|tuning]; measures: ${Object.keys(MEASURES)}`,
  );
  process.exitCode = 2;
} else {
  const { section, hold } = holdGoals(values.half, names);
  console.log(`${textTable(sectionTable(section))}\n${section.note}`);
  process.exitCode = hold ? 0 : 1;
}
