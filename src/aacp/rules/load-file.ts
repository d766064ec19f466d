/** Loads rules on Node: from files too, and with the workflow encoders of pegwire. */
// biome-ignore lint/correctness/noNodejsModules: reads files
import { readFile } from 'node:fs/promises';
import { systemReason } from '../../text/system-reason.js';
import { encodeStep } from '../encoders/catalogue.js';
import type { RuleLibrary } from './library.js';
import {
  checkedPin,
  checkPin,
  type FetchRulesOptions,
  type LoadRulesOptions,
  readRules,
  readRulesFromUrl,
  textOf,
} from './load.js';
import { RulesError } from './rule.js';

/**
 * Reads rules in the reference format: a list, or `{ "rules": [...] }`, in which other members are ignored. Rules with errors are not loaded.
 * Errors and warnings are in `reports`.
 *
 * @param source the JSON text, or its value
 * @throws RulesError with code `bad-rules` or `hash-mismatch`; TypeError if an option is invalid
 * @example
 * const { rules, reports } = loadRules(await readFile('rules.json', 'utf8'));
 */
export function loadRules(source: unknown, options: LoadRulesOptions = {}): RuleLibrary {
  return readRules(source, options, encodeStep);
}

/**
 * Loads rules by http or https; see `loadRules`. Nothing is cached.
 *
 * @throws RulesError with code `rules-unavailable`, `rules-too-large`, `hash-mismatch` or `bad-rules`; TypeError if an option is
 *   invalid or `sha256` is missing
 * @example
 * const library = await fetchRules('https://rules.example.org/2026.json', { sha256: '9f86d0...' });
 */
export async function fetchRules(url: string | URL, options: FetchRulesOptions): Promise<RuleLibrary> {
  return readRulesFromUrl(url, options, encodeStep);
}

/**
 * Reads a file of rules; see `loadRules`. If `sha256` is given, rejects a file with another hash.
 *
 * @throws RulesError with code `rules-unavailable`, `hash-mismatch` or `bad-rules`; TypeError if an option is invalid
 * @example
 * const library = await loadRulesFile('rules.json', { sha256: '9f86d0...' });
 */
export async function loadRulesFile(path: string | URL, options: LoadRulesOptions = {}): Promise<RuleLibrary> {
  const { sha256, ...rest } = options;
  const pin = sha256 === undefined ? null : checkedPin(sha256);
  const bytes = await readFile(path).catch((cause: unknown) => {
    const message = `The rules ${String(path)} cannot be read: ${systemReason(cause)}.`;
    throw new RulesError({ code: 'rules-unavailable', message }, { cause });
  });
  if (pin !== null) checkPin(bytes, pin);
  return loadRules(textOf(bytes), rest);
}
