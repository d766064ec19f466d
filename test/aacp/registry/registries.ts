/** The registries for which the contract tests run. */
import { afterAll } from 'vitest';
import { memoryRegistry } from '../../../src/aacp/registry/memory.js';
import type { RegistryOptions } from '../../../src/aacp/registry/options.js';
import { postgresRegistry } from '../../../src/aacp/registry/postgres.js';
import type { Registry } from '../../../src/aacp/registry/registry.js';
import { sqliteRegistry } from '../../../src/aacp/registry/sqlite.js';
import { administer, hasPostgres, newSchema, postgresUrl } from '../../helpers/postgres.js';
import { DRIVERS } from '../../storage/drivers.js';

type Open = (file: string, options?: RegistryOptions) => Promise<Registry>;

/** The tests of files run with the driver of the platform. */
const PACKAGES = DRIVERS.filter(([, driver]) => driver !== undefined);

/** `setUp` registers what the tests of the registry need, in their `describe`. */
export const REGISTRIES: readonly (readonly [name: string, open: Open, setUp: () => void])[] = [
  ['memory', async (_file, options) => memoryRegistry(options), nothing],
  ...PACKAGES.map(
    ([name, driver]) =>
      [`SQLite with ${name}`, (file, options) => sqliteRegistry(file, { ...options, driver }), nothing] satisfies [
        string,
        Open,
        () => void,
      ],
  ),
  ...(hasPostgres ? [inPostgres()] : []),
];

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
  return ['PostgreSQL', open, setUp];
}
