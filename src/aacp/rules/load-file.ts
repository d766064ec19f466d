/** Loading rules on Node: from files as well, and with the workflow encoders that come with pegwire. */
// biome-ignore lint/correctness/noNodejsModules: files are what this is about
import { readFile } from 'node:fs/promises';
import { systemReason } from '../../text/system-reason.js';
import { encodeStep } from '../encoders/catalogue.js';
import type { RuleLibrary } from './library.js';
import {
  checkedPin,
  checkPin,
  type LoadRulesFromOptions,
  type LoadRulesOptions,
  readRules,
  readRulesFrom,
  textOf,
} from './load.js';
import { RulesError } from './rule.js';

/**
 * Reads rules in the reference format: a list, or `{ "rules": [...] }`; further members are ignored. A rule with an error is left out,
 * and reported in `reports`, as are warnings.
 *
 * @param source JSON text, or its value
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
 *   invalid, and without a pin
 * @example
 * const library = await loadRulesFrom('https://rules.example.org/2026.json', { sha256: '9f86d0...' });
 */
export async function loadRulesFrom(url: string | URL, options: LoadRulesFromOptions): Promise<RuleLibrary> {
  return readRulesFrom(url, options, encodeStep);
}

/**
 * Reads a file of rules; see `loadRules`. With `sha256`, any other file is rejected.
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
