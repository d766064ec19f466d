/** What a reply costs. */
import type { ModelPrice, ModelUsage } from './model.js';

/** US dollars per million tokens, as the provider's price list has them. */
export interface ProviderPrice extends ModelPrice {
  /** Input tokens that come from the provider's cache. @default as `input` */
  readonly cacheRead?: number | undefined;
  /** Input tokens that are put into the provider's cache. @default as `input` */
  readonly cacheWrite?: number | undefined;
}

/** Tokens as the provider bills them; those of the cache are among `inputTokens`. */
export interface BilledUsage extends ModelUsage {
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** US dollars; `null` where the price or the usage is not known. */
export function costOf(usage: BilledUsage | undefined, price: ProviderPrice | undefined): number | null {
  if (usage === undefined || price === undefined) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  const fresh = inputTokens - cacheReadTokens - cacheWriteTokens;
  const millionths =
    fresh * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output;
  return millionths / 1e6;
}
