/** The gate: fails if a goal is below its floor. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { Half } from '../../src/bench/corpus/texts.js';
import { sectionTable } from '../../src/bench/table.js';
import { textTable } from '../../src/text/table.js';
import { holdGoals } from './goal-results.js';
import { MEASURES } from './measures.js';

const ALL = Object.keys(MEASURES);

/** Returns the options, or null if they are invalid. */
function readOptions(): { readonly half: Half; readonly names: readonly string[] } | null {
  try {
    const { values } = parseArgs({
      options: { only: { type: 'string' }, half: { type: 'string', default: 'unseen' } },
    });
    const { half, only } = values;
    const starts = only?.split(',').filter((start) => start !== '');
    const names = starts === undefined ? ALL : ALL.filter((name) => starts.some((start) => name.startsWith(start)));
    return names.length > 0 && (half === 'unseen' || half === 'tuning') ? { half, names } : null;
  } catch {
    return null;
  }
}

const options = readOptions();
if (options === null) {
  console.error(
    `Usage: npm run bench:gate -- [--only MEASURE,...] [--half unseen|tuning]; measures: ${ALL.join(', ')}`,
  );
  process.exitCode = 2;
} else {
  const { section, hold } = holdGoals(options.half, options.names);
  console.log(`${textTable(sectionTable(section))}\n${section.note}`);
  process.exitCode = hold ? 0 : 1;
}
