/** Measures some goals of the gate once: `gate-child.js MEASURE HALF`, with the half of the corpus. */
import process from 'node:process';
import type { Half } from '../../src/bench/corpus/texts.js';
import { MEASURES } from './measures.js';

const [, , name = '', half = 'unseen'] = process.argv;
const measure = MEASURES[name];
if (measure === undefined) throw new RangeError(`unknown measure "${name}"`);
console.log(JSON.stringify(await measure(half as Half)));
