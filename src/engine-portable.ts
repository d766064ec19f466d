/** The tools for grammars, for Node and browsers: made for Peggy's, and for any of them. The code of a grammar that is given to them is run. */

export {
  type CoverageCount as Share,
  type CoverageReport,
  coverageHtml,
  coverageReport,
  coverageTable,
  type RuleCoverage,
} from './fuzz/coverage/report.js';
// What of it texts have seen.
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
  type Mismatch as Fault,
  runConformance,
} from './fuzz/differential/conformance.js';
export { grammarLanguage, type Language } from './fuzz/differential/language.js';
export {
  compareOutcome as judge,
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
// Other implementations.
export type { Answer, Json, Outcome, Request, Target } from './fuzz/differential/target.js';
export { functionTarget, TargetError } from './fuzz/differential/target.js';
// A grammar, ready for tools.
export { compileGrammar, GrammarError } from './fuzz/grammar/compile.js';
export type {
  Derivation,
  Grammar,
  GrammarOptions,
  ParseResult as Verdict,
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
// Texts made from it.
export { generateSentences, NoSentenceError, type SentenceOptions } from './fuzz/sentences/generate.js';
export type { Hook } from './fuzz/sentences/walk.js';
// ABNF.
export type {
  AbnfAlternative,
  AbnfComment,
  AbnfElement,
  AbnfGrammar,
  AbnfItem,
  AbnfRule,
} from './grammar-export/abnf/ast.js';
export { type AbnfCode, type AbnfDiagnostic, checkAbnf } from './grammar-export/abnf/check.js';
export { coreRules, type ParseAbnfOptions, parseAbnf, withCoreRules } from './grammar-export/abnf/parse.js';
export { printAbnf } from './grammar-export/abnf/print.js';
export { codeMirrorMode } from './grammar-export/codemirror.js';
export type { Approximation } from './grammar-export/context-free.js';
export { ExportError } from './grammar-export/context-free.js';
// The same grammar for other engines.
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
