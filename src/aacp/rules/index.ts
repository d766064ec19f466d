/** Rule libraries: instructions that are known in advance, bundled or in files of the reference format. */
export { bundledRules } from './bundled.js';
export type { EncodeStep, RuleReport, RuleReportCode, StepPacket } from './check-rule.js';
export type { RuleLibrary, RuleSummary } from './library.js';
export type { FetchRulesOptions, LoadRulesOptions } from './load.js';
export { fetchRules, loadRules, loadRulesFile } from './load-file.js';
export type { Rule, RuleSource, RuleWorkflow } from './rule.js';
export { RulesError, type RulesErrorCode } from './rule.js';
export type { Find, FindOptions, FoundRule } from './search.js';
export { SLOT_KINDS, type SlotKind } from './slots.js';
