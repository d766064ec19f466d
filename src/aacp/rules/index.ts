/** Rule libraries: instructions that are known beforehand, in files of the reference format or bundled. */
export { bundledRules } from './bundled.js';
export type { EncodeStep, StepPacket } from './check-rule.js';
export { RulesError, type RulesErrorCode } from './errors.js';
export type { RuleLibrary, RuleSummary } from './library.js';
export type { LoadRulesOptions } from './load.js';
export { loadRules, loadRulesFile, loadRulesFrom } from './load-file.js';
export type { LoadRulesFromOptions } from './load-from.js';
export type { RuleReport, RuleReportCode } from './reports.js';
export type { Rule, RuleWorkflow } from './rule.js';
export type { RuleSource } from './rule-schema.js';
export type { Find, FindOptions, FoundRule } from './search.js';
export { SLOT_KINDS, type SlotKind } from './slots.js';
