/** The settings of the server, as editors send them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createRegistry } from '../accp/registry/registry.js';
import { PegwireError } from '../text/errors.js';
import { isRecord } from '../text/guards.js';
import { visible } from '../text/visible.js';
import type { MessageSettings } from './messages/message-language.js';

export interface Settings extends MessageSettings {
  /** The severity of errors in messages inside other documents. */
  readonly embedded: 'error' | 'warning' | 'off';
  /** The file of the registry, as an absolute path. */
  readonly registryFile: string | undefined;
}

const CHOICES = {
  dialect: ['strict', 'lenient'],
  profile: ['draft', 'interop'],
  embedded: ['error', 'warning', 'off'],
} as const;

const NAMES = ['dialect', 'profile', 'privateKeys', 'registry', 'embedded'];

/** Settings in the section `pegwire` of VS Code that the extension and its client library read. */
const CLIENT_NAMES = ['languages', 'server', 'trace'];

export const DEFAULT_SETTINGS: Settings = {
  dialect: 'strict',
  profile: 'draft',
  embedded: 'warning',
  privateKeys: [],
  registry: createRegistry(),
  hasRegistry: false,
  registryFile: undefined,
};

/**
 * Reads settings. An invalid one keeps its default, and an unknown one is ignored; both are reported.
 *
 * @param sources the settings of the editor, which may be anything; later ones override earlier ones, unless they are `null`
 * @param folder the folder of relative paths
 * @param onProblem receives one sentence for each invalid or unknown setting
 */
export function readSettings(
  sources: readonly unknown[],
  folder: string,
  onProblem: (message: string) => void,
): Settings {
  const given: Record<string, unknown> = {};
  for (const source of sources) {
    if (source !== undefined && source !== null && !isRecord(source)) onProblem('The settings must be an object.');
    for (const [name, value] of Object.entries(isRecord(source) ? source : {})) if (value !== null) given[name] = value;
  }
  for (const name of Object.keys(given)) {
    if (![...NAMES, ...CLIENT_NAMES].includes(name))
      onProblem(`pegwire.${visible(name)} is not a setting; the settings are ${NAMES.join(', ')}.`);
  }
  const choice = <const Name extends keyof typeof CHOICES>(name: Name): (typeof CHOICES)[Name][number] => {
    const choices: readonly string[] = CHOICES[name];
    const own = given[name];
    if (own === undefined) return DEFAULT_SETTINGS[name] as never;
    if (typeof own === 'string' && choices.includes(own)) return own as never;
    onProblem(`pegwire.${name} must be one of ${choices.join(', ')}.`);
    return DEFAULT_SETTINGS[name] as never;
  };
  const { privateKeys = [], registry: file } = given;
  const areKeys = Array.isArray(privateKeys) && privateKeys.every((key) => typeof key === 'string');
  if (!areKeys) onProblem('pegwire.privateKeys must be a list of strings.');
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    dialect: choice('dialect'),
    profile: choice('profile'),
    embedded: choice('embedded'),
    privateKeys: areKeys ? (privateKeys as string[]) : [],
  };
  if (file === undefined || file === '') return settings;
  if (typeof file !== 'string') {
    onProblem('pegwire.registry must be the path of a JSON file.');
    return settings;
  }
  const registryFile = path.resolve(folder, file);
  try {
    const registry = createRegistry(JSON.parse(readFileSync(registryFile, 'utf8')));
    return { ...settings, registry, hasRegistry: true, registryFile };
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const why = thrown instanceof PegwireError || typeof code !== 'string' ? message : `it cannot be read (${code})`;
    onProblem(`The registry ${file} is not used: ${why.replace(/\.$/, '')}.`);
    return { ...settings, registryFile };
  }
}
