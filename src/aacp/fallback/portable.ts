/**
 * The fallback encoder for any platform. Public as `pegwire/aacp/fallback/portable`: like `pegwire/aacp/fallback`, without files and
 * databases.
 */
import { ESTIMATING_COUNTER } from '../../tokens/counter.js';
import { ModelError } from '../models/model.js';
import { memoryRegistry } from '../registry/memory.js';
import type { RuleLibrary } from '../rules/library.js';
import { type FetchRulesOptions, type LoadRulesOptions, readRules, readRulesFromUrl } from '../rules/load.js';
import { encoderOn, type FallbackEncoder } from './fallback-encoder.js';
import type { FallbackOptions } from './options.js';

export { type ErrorJson, PegwireError } from '../../text/errors.js';
export { StoreError, type StoreReason } from '../../text/store-error.js';
export { instructionId, normaliseInstruction, registryKey } from '../matching/instruction/normalise.js';
export type { Candidate, PatternSource, Refusal } from '../matching/match.js';
export type { Model, ModelAnswer, ModelReply, ModelRequest, ModelUsage } from '../models/model.js';
export { ModelError, type ModelErrorCode } from '../models/model.js';
export { RegistryError, type RegistryErrorCode } from '../registry/errors.js';
export {
  type ExportOptions,
  exportPatterns,
  type ImportOptions,
  type ImportReport,
  importPatterns,
  type SkippedPattern,
} from '../registry/exchange.js';
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
export { bundledRules } from '../rules/bundled.js';
export type { RuleReport, RuleReportCode } from '../rules/check-rule.js';
export type { RuleLibrary, RuleSummary } from '../rules/library.js';
export type { FetchRulesOptions, LoadRulesOptions } from '../rules/load.js';
export type { Rule, RuleWorkflow } from '../rules/rule.js';
export { RulesError, type RulesErrorCode } from '../rules/rule.js';
export type { FindOptions, FoundRule } from '../rules/search.js';
export { FallbackError, type FallbackErrorCode } from './errors.js';
export type { FallbackEncoder } from './fallback-encoder.js';
export type { FallbackOptions } from './options.js';
export type { EncodeOptions } from './request.js';
export type { FallbackExplanation, FallbackResult, FallbackTokens, FallbackWarning, Tier } from './result.js';

/**
 * Reads rules in the reference format, as `loadRules` of `pegwire/aacp/fallback` does, but does not check the workflow steps that they name.
 *
 * @throws RulesError with code `bad-rules` or `hash-mismatch`; TypeError if an option is invalid
 */
export function loadRules(source: unknown, options: LoadRulesOptions = {}): RuleLibrary {
  return readRules(source, options, null);
}

/**
 * Loads rules by http or https, as `fetchRules` of `pegwire/aacp/fallback` does, but does not check the workflow steps that they name.
 *
 * @throws RulesError with code `rules-unavailable`, `rules-too-large`, `hash-mismatch` or `bad-rules`; TypeError if an option is
 *   invalid or `sha256` is missing
 */
export async function fetchRules(url: string | URL, options: FetchRulesOptions): Promise<RuleLibrary> {
  return readRulesFromUrl(url, options, null);
}

/**
 * Creates an encoder for instructions that no workflow encoder covers, as `createFallbackEncoder` of `pegwire/aacp/fallback` does, with
 * these differences: the default registry is in memory; rules use their own packets, not those of workflow steps; without `counter`, tokens
 * are estimated; models cannot request a grammar.
 *
 * @throws TypeError if an option is invalid
 */
export function createFallbackEncoder(options: FallbackOptions = {}): FallbackEncoder {
  return encoderOn(
    {
      openRegistry: async () => ({ registry: memoryRegistry(), warning: null }),
      counter: () => ESTIMATING_COUNTER,
      grammar: async () => {
        throw new ModelError({
          code: 'model-bad-request',
          message: 'Grammars of packets require pegwire/aacp/fallback, which needs Node.',
        });
      },
    },
    options,
  );
}
