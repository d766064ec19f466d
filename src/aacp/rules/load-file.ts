/** Rule libraries from files. */
// biome-ignore lint/correctness/noNodejsModules: files are what this is about
import { readFile } from 'node:fs/promises';
import { systemReason } from '../../text/system-reason.js';
import { RulesError } from './errors.js';
import type { RuleLibrary } from './library.js';
import { type LoadRulesOptions, loadRules } from './load.js';
import { checkedPin, checkPin } from './pin.js';
import { textOf } from './text-of.js';

/**
 * Reads a file of rules; see `loadRules`. With `sha256`, only the very file that was pinned is read.
 *
 * @throws RulesError with code `rules-unavailable`, `hash-mismatch` or `bad-rules`; TypeError on an option that is none
 * @example
 * const library = await loadRulesFile('rules.json', { sha256: '9f86d0...' });
 */
export async function loadRulesFile(path: string | URL, options: LoadRulesOptions = {}): Promise<RuleLibrary> {
  const { sha256, ...rest } = options;
  const pin = sha256 === undefined ? null : checkedPin(sha256);
  const bytes = await read(path);
  if (pin !== null) checkPin(bytes, pin);
  return loadRules(textOf(bytes), rest);
}

async function read(path: string | URL): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    const message = `The rules ${String(path)} cannot be read: ${systemReason(cause)}.`;
    throw new RulesError({ code: 'rules-unavailable', message }, { cause });
  }
}
