/** Measures memory, in a separate process: `node --expose-gc memory-child.js`. */
import { memory } from './memory.js';

console.log(JSON.stringify(memory()));
