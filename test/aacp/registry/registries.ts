/** The registries for which the contract tests run. */
import { memoryRegistry } from '../../../src/aacp/registry/memory.js';
import type { RegistryOptions } from '../../../src/aacp/registry/options.js';
import type { Registry } from '../../../src/aacp/registry/registry.js';
import { sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { DRIVERS } from '../../storage/drivers.js';

type Open = (file: string, options?: RegistryOptions) => Promise<Registry>;

/** The tests of files run with the driver of the platform. */
const PACKAGES = DRIVERS.filter(([, driver]) => driver !== undefined);

export const REGISTRIES: readonly (readonly [name: string, open: Open])[] = [
  ['memory', async (_file, options) => memoryRegistry(options)],
  ...PACKAGES.map(
    ([name, driver]) =>
      [`SQLite with ${name}`, (file, options) => sqliteRegistry(file, { ...options, driver })] satisfies [string, Open],
  ),
];
