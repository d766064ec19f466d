/** The tools for grammars: made for Peggy's, and for any of them. For Node; the code of a grammar that is given to them is run. */

// ABNF.
export type { AbnfAlternative, AbnfComment, AbnfElement, AbnfGrammar, AbnfItem, AbnfRule } from './abnf/ast.js';
export { type AbnfCode, checkAbnf } from './abnf/check.js';
export { coreRules, withCoreRules } from './abnf/core.js';
export { type ParseAbnfOptions, parseAbnf } from './abnf/parse.js';
export { printAbnf } from './abnf/print.js';
export { GOAL_KINDS, type Goal, type GoalKind, type Goals, goalsOf } from './coverage/goals.js';
export { coverageHtml } from './coverage/html.js';
export {
  type CoverageReport,
  coverageReport,
  coverageTable,
  type RuleCoverage,
  type Share,
} from './coverage/report.js';
// What of it texts have seen.
export { createTracker, type Tracker } from './coverage/tracker.js';
export {
  ASPECTS,
  type Aspect,
  type CaseResult,
  type ConformanceCase,
  type Expected,
  type Fault,
  runConformance,
} from './differential/conformance.js';
export { type Fixture, fixtureFile, fixtureOf } from './differential/fixture.js';
export { functionTarget } from './differential/function-target.js';
export { DISAGREEMENT_KINDS, type Disagreement, type DisagreementKind, judge } from './differential/judge.js';
export { type ProcessOptions, processTarget } from './differential/process-target.js';
export {
  type DifferentialOptions,
  type DifferentialProgress,
  type DifferentialReport,
  type Finding,
  runDifferential,
} from './differential/run.js';
export { type ShrinkOptions, shrinkText } from './differential/shrink.js';
// Other implementations.
export type { Answer, Json, Outcome, Request, Target } from './differential/target.js';
export { TargetError } from './differential/target-error.js';
export { type Difference, treeDifference } from './differential/trees.js';
export { codeMirrorMode } from './export/codemirror.js';
export type { Approximation } from './export/context-free.js';
export type { EditorLanguage } from './export/editor-language.js';
export { ExportError } from './export/export-error.js';

// The same grammar for other engines.
export {
  approximationsOf,
  exportGrammar,
  GRAMMAR_FORMATS,
  type GrammarExportOptions,
  type GrammarFormat,
} from './export/export-grammar.js';
export { railroadDiagrams } from './export/railroad.js';
export { textMateGrammar } from './export/textmate.js';
// A grammar, ready for tools.
export { compileGrammar, GrammarError } from './grammar/compile.js';
export type { Derivation, Grammar, GrammarOptions, Verdict } from './grammar/grammar.js';
export { grammarLanguage, type Language } from './grammar/language.js';
export type { Point, PointKind, Points } from './grammar/points.js';
export { type FuzzInput, type FuzzOptions, fuzzInputs } from './mutants/inputs.js';
export {
  generateMutants,
  MUTANT_KINDS,
  type Mutant,
  type MutantKind,
  type MutantOptions,
  type MutateOptions,
  mutate,
  truncations,
} from './mutants/mutate.js';
// Texts made from it.
export { generateSentences, NoSentenceError, type SentenceOptions } from './sentences/generate.js';
export type { Hook } from './sentences/walk.js';
