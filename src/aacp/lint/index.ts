/** Advice on what packets hold (draft-mackay-aacp-01, sections 9 and 15). Portable. */
export type { LintCode, LintDiagnostic } from './codes.js';
export { type LintOptions, lintPacket } from './lint.js';
