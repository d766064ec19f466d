/** The gate: fails if a goal is below its floor. */
import process from 'node:process';
import { sectionTable, textTable } from '../../src/bench/table.js';
import { holdGoals } from './goal-results.js';

const { section, hold } = holdGoals();
console.log(`${textTable(sectionTable(section))}\n${section.note}`);
process.exitCode = hold ? 0 : 1;
