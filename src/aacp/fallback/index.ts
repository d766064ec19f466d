/** Instructions to packets in three tiers. Public as `pegwire/aacp/fallback`; the guide is `src/aacp/README.md`. */

export { type ErrorJson, PegwireError } from '../../text/errors.js';
export { instructionId, keyOf, normaliseInstruction } from '../matching/instruction/normalise.js';
export type { Candidate, PatternSource, Refusal } from '../matching/match.js';
export type { Model, ModelAnswer, ModelReply, ModelRequest, ModelUsage } from '../models/model.js';
export { ModelError, type ModelErrorCode } from '../models/model.js';
export { RegistryError, type RegistryErrorCode } from '../registry/errors.js';
export { type ExportOptions, exportPatterns } from '../registry/export-patterns.js';
export {
  type ImportOptions,
  type ImportReport,
  importPatterns,
  type SkippedPattern,
} from '../registry/import-patterns.js';
export { memoryRegistry } from '../registry/memory.js';
export type { RegistryOptions } from '../registry/options.js';
export type {
  NewEntry,
  Registry,
  RegistryEntry,
  RegistryRequest,
  RegistryStatistics,
  Reservation,
} from '../registry/registry.js';
export {
  betterSqlite3,
  defaultRegistryFile,
  type NoticeListener,
  nodeSqlite,
  type RegistryNotice,
  type SqliteRegistryOptions,
  sqliteRegistry,
} from '../registry/sqlite.js';
export {
  bundledRules,
  type FindOptions,
  type FoundRule,
  type LoadRulesFromOptions,
  type LoadRulesOptions,
  loadRules,
  loadRulesFile,
  loadRulesFrom,
  type Rule,
  type RuleLibrary,
  type RuleReport,
  type RuleReportCode,
  type RuleSummary,
  RulesError,
  type RulesErrorCode,
  type RuleWorkflow,
} from '../rules/index.js';
export { FallbackError, type FallbackErrorCode } from './errors.js';
export type { FallbackEncoder } from './fallback-encoder.js';
export { createFallbackEncoder } from './node-encoder.js';
export type { FallbackOptions } from './options.js';
export type { EncodeOptions } from './request.js';
export type { FallbackExplanation, FallbackResult, FallbackTokens, FallbackWarning, Tier } from './result.js';
