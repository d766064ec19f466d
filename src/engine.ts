/** Tools for Peggy grammars, for Node: fuzzing, coverage, export. The code of a grammar is executed, so use only grammars that you trust. */
export * from './engine-portable.js';
export { type ProcessOptions, processTarget } from './fuzz/process/process-target.js';
