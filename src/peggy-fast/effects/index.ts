export { analyzeEffects } from './analyze.js';
export type { LocationRange, Position, Snippet } from './positions.js';
export { freeReferences, parseBody, type Reference } from './references.js';
export type { Violation } from './report.js';
export type { Analysis, Block, Effects, GrammarCode } from './types.js';
