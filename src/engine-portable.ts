/** Tools for Peggy grammars, for Node and browsers: fuzzing, coverage, export. The code of a grammar is executed, so use only grammars that you trust. */

export {
  type CoverageCount,
  type CoverageReport,
  coverageHtml,
  coverageReport,
  coverageTable,
  type RuleCoverage,
} from './fuzz/coverage/report.js';
export {
  createTracker,
  GOAL_KINDS,
  type Goal,
  type GoalKind,
  type Goals,
  goalsOf,
  type Tracker,
} from './fuzz/coverage/tracker.js';
export {
  ASPECTS,
  type Aspect,
  type CaseResult,
  type ConformanceCase,
  type Expected,
  type Mismatch,
  runConformance,
} from './fuzz/differential/conformance.js';
export { grammarLanguage, type Language } from './fuzz/differential/language.js';
export {
  compareOutcome,
  DISAGREEMENT_KINDS,
  type Difference,
  type Disagreement,
  type DisagreementKind,
  treeDifference,
} from './fuzz/differential/oracle.js';
export {
  type DifferentialOptions,
  type DifferentialProgress,
  type DifferentialReport,
  type Finding,
  type Fixture,
  fixtureFile,
  fixtureOf,
  runDifferential,
} from './fuzz/differential/run.js';
export { type ShrinkOptions, shrinkText } from './fuzz/differential/shrink.js';
export type { Answer, Json, Outcome, Request, Target } from './fuzz/differential/target.js';
export { functionTarget, TargetError } from './fuzz/differential/target.js';
export { compileGrammar, GrammarError } from './fuzz/grammar/compile.js';
export type {
  Derivation,
  Grammar,
  GrammarOptions,
  ParseResult,
  Point,
  PointKind,
  Points,
} from './fuzz/grammar/grammar.js';
export {
  type FuzzInput,
  type FuzzOptions,
  fuzzInputs,
  generateMutants,
  MUTANT_KINDS,
  type Mutant,
  type MutantKind,
  type MutantOptions,
  type MutateOptions,
  mutate,
  truncations,
} from './fuzz/mutants/mutate.js';
export { generateSentences, NoSentenceError, type SentenceOptions } from './fuzz/sentences/generate.js';
export type { Hook } from './fuzz/sentences/walk.js';
export type {
  AbnfAlternation,
  AbnfAlternative,
  AbnfBase,
  AbnfCodes,
  AbnfComment,
  AbnfConcatenation,
  AbnfElement,
  AbnfGrammar,
  AbnfItem,
  AbnfOption,
  AbnfProse,
  AbnfRange,
  AbnfReference,
  AbnfRepetition,
  AbnfRule,
  AbnfString,
} from './grammar-export/abnf/ast.js';
export { type AbnfCode, type AbnfDiagnostic, checkAbnf } from './grammar-export/abnf/check.js';
export { coreRules, type ParseAbnfOptions, parseAbnf, withCoreRules } from './grammar-export/abnf/parse.js';
export { printAbnf } from './grammar-export/abnf/print.js';
export { codeMirrorMode } from './grammar-export/codemirror.js';
export type { Approximation } from './grammar-export/context-free.js';
export { ExportError } from './grammar-export/context-free.js';
export {
  approximationsOf,
  exportGrammar,
  GRAMMAR_FORMATS,
  type GrammarExportOptions,
  type GrammarFormat,
} from './grammar-export/export-grammar.js';
export { railroadDiagrams } from './grammar-export/railroad.js';
export { textMateGrammar } from './grammar-export/textmate.js';
export type { EditorLanguage } from './grammar-export/token-table.js';
export { type ErrorJson, PegwireError } from './text/errors.js';
