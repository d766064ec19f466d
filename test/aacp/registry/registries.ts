/** The registries for which the contract tests run. */
import { afterAll } from 'vitest';
import { memoryRegistry } from '../../../src/aacp/registry/memory.js';
import type { RegistryOptions } from '../../../src/aacp/registry/options.js';
import { postgresRegistry } from '../../../src/aacp/registry/postgres.js';
import type { Registry } from '../../../src/aacp/registry/registry.js';
import { sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { administer, newSchema, postgresHint, postgresUrl } from '../../helpers/postgres.js';
import { sized } from '../../helpers/runs.js';
import { DRIVERS } from '../../storage/drivers.js';

type Open = (file: string, options?: RegistryOptions) => Promise<Registry>;

/** The tests of files run with the driver of the platform. */
const PACKAGES = DRIVERS.filter(([, driver]) => driver !== undefined);
const [FIRST_PACKAGES, OTHER_PACKAGES] = sized([PACKAGES.slice(0, 1), PACKAGES.slice(1)], [PACKAGES, []]);

/** `setUp` registers what the tests of the registry need, in their `describe`. */
export const REGISTRIES: readonly (readonly [name: string, open: Open, setUp: () => void])[] = [
  ['memory', async (_file, options) => memoryRegistry(options), nothing],
  ...FIRST_PACKAGES.map(inFile),
  inPostgres(),
];

/** The registries whose contract is in the long form only. */
export const OTHER_REGISTRIES: typeof REGISTRIES = OTHER_PACKAGES.map(inFile);

function inFile([name, driver]: (typeof DRIVERS)[number]): readonly [string, Open, () => void] {
  return [`SQLite with ${name}`, (file, options) => sqliteRegistry(file, { ...options, driver }), nothing];
}

function nothing(): void {}

/** A schema that the tests share, since creating one takes longer than a test. */
function inPostgres(): readonly [string, Open, () => void] {
  const { schema, drop } = newSchema();
  const tables = ['entry', 'posting', 'reservation'].map((table) => `DELETE FROM "${schema}".aacp_${table}`);
  let last: string | undefined;
  const open: Open = async (file, options) => {
    if (last !== undefined && last !== file) await administer(...tables);
    const registry = await postgresRegistry(postgresUrl, { ...options, schema });
    last = file;
    return registry;
  };
  const setUp = (): void => {
    afterAll(async () => {
      last = undefined;
      await drop();
    });
  };
  return [`PostgreSQL${postgresHint}`, open, setUp];
}
