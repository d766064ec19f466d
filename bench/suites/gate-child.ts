/** Measures some goals of the gate once: those of the measure that is named. */
import process from 'node:process';
import { MEASURES } from './measures.js';

const name = process.argv[2] ?? '';
const measure = MEASURES[name];
if (measure === undefined) throw new RangeError(`there is no measure "${name}"`);
console.log(JSON.stringify(await measure()));
