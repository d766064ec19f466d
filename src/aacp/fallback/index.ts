/** Encodes instructions as packets in three tiers. Public as `pegwire/aacp/fallback`; the guide is `src/aacp/README.md`. */

import { installedCounter } from '../../tokens/installed-counter.js';
import { encodeStep } from '../encoders/index.js';
import { encoderOn, type FallbackEncoder } from './fallback-encoder.js';
import type { FallbackOptions, OpenRegistry } from './options.js';

export {
  betterSqlite3,
  defaultRegistryFile,
  type NoticeListener,
  nodeSqlite,
  type RegistryNotice,
  type SqliteRegistryOptions,
  sqliteRegistry,
} from '../registry/sqlite.js';
export { fetchRules, loadRules, loadRulesFile } from '../rules/load-file.js';
// biome-ignore lint/performance/noReExportAll: the portable half, except for the names that this file exports itself
export * from './portable.js';

/**
 * Creates an encoder for instructions that no workflow encoder covers.
 *
 * 1. An instruction that was encoded before, for the same domain, agent and priority, is answered from the registry.
 * 2. An instruction with the words of a rule or of an earlier instruction, but other dates, amounts and names, gets a packet with its own
 *    values.
 * 3. Any other instruction is sent to the model, and its packet is stored.
 *
 * Source: draft-mackay-aacp-01, sections 6.2 and 6.3.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const encoder = createFallbackEncoder({ model: anthropicModel({ model: 'claude-sonnet-4-5' }) });
 * const { packet, tier, cost } = await encoder.encode('Fetch the salary records for August 2024.', { domain: 'HR' });
 */
export function createFallbackEncoder(options: FallbackOptions = {}): FallbackEncoder {
  return encoderOn(
    {
      openRegistry: openDefault,
      counter: installedCounter,
      encodeStep,
      grammar: async (request, notation) => {
        const { packetGrammar } = await import('../models/packet-grammar.js');
        return packetGrammar(request, notation);
      },
    },
    options,
  );
}

/** Opens the default registry. Loaded on demand: if the application passes a registry, no database driver is loaded. */
async function openDefault(): Promise<OpenRegistry> {
  const { isUnwritable, memoryCopy, sqliteRegistry } = await import('../registry/sqlite.js');
  try {
    return { registry: await sqliteRegistry(), warning: null };
  } catch (thrown) {
    if (!isUnwritable(thrown)) throw thrown;
    const { registry, isCopy } = await memoryCopy();
    const used = isCopy ? ' Its entries are used.' : '';
    const message = `${thrown.message.replace(/\.?$/, '.')}${used} New packets are kept in memory until the encoder is closed.`;
    return { registry, warning: { code: 'registry-in-memory', message } };
  }
}
