/** Measures some goals of the gate once, by the name of the measure. */
import process from 'node:process';
import { MEASURES } from './measures.js';

const name = process.argv[2] ?? '';
const measure = MEASURES[name];
if (measure === undefined) throw new RangeError(`unknown measure "${name}"`);
console.log(JSON.stringify(await measure()));
