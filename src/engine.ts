/** The tools for grammars: made for Peggy's, and for any of them. For Node; the code of a grammar that is given to them is run. */
export * from './engine-portable.js';
export { type ProcessOptions, processTarget } from './fuzz/process/process-target.js';
