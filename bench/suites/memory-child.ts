/** Measures memory, in a process that does nothing else: `node --expose-gc memory-child.js`. */
import { memory } from './memory.js';

console.log(JSON.stringify(memory()));
