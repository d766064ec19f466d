/** The stores that the tests of stores, journals and streams run with. */

import { afterAll } from 'vitest';
import { memoryStore } from '../../../src/accp/store/memory.js';
import { postgresStore } from '../../../src/accp/store/postgres.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import type { SessionStore } from '../../../src/accp/store/store.js';
import { administer, newSchema, postgresHint, postgresUrl } from '../../helpers/postgres.js';
import { sized } from '../../helpers/runs.js';
import { DRIVERS } from '../../storage/drivers.js';

/** One place of storage: `open` opens it, again where it is a file or a database. */
export interface Place {
  readonly open: () => Promise<SessionStore>;
}

/** The packages for PostgreSQL: the contract runs with the first in `npm test`, and with both in the long form. */
const [FIRST_DRIVERS, OTHER_DRIVERS] = sized<readonly [readonly PostgresDriver[], readonly PostgresDriver[]]>(
  [['postgres'], ['pg']],
  [['postgres', 'pg'], []],
);

type PostgresDriver = 'postgres' | 'pg';
type StorePlace = readonly [name: string, place: (fresh: () => string) => Place, setUp: () => void];

/** @param fresh gives names of new files @param setUp registers what the tests of the store need, in their `describe` */
export const STORES: readonly StorePlace[] = [
  [
    'memory',
    () => {
      const store = memoryStore();
      return { open: async () => store };
    },
    nothing,
  ],
  ...DRIVERS.map(
    ([name, driver]) =>
      [
        `SQLite with ${name}`,
        (fresh: () => string): Place => {
          const file = fresh();
          return { open: () => sqliteStore(file, { driver }) };
        },
        nothing,
      ] as const,
  ),
  ...FIRST_DRIVERS.map(postgresPlace),
];

/** The stores whose contract is in the long form only. */
export const OTHER_STORES: readonly StorePlace[] = OTHER_DRIVERS.map(postgresPlace);

function nothing(): void {}

/** A schema that the tests of a driver share, since creating one takes longer than a test. */
function postgresPlace(driver: PostgresDriver): StorePlace {
  const { schema, drop } = newSchema();
  const tables = ['entry', 'endpoint', 'cold'].map((table) => `DELETE FROM "${schema}".accp_${table}`);
  let isCreated = false;
  const place = (): Place => {
    let isEmpty = false;
    return {
      open: async () => {
        if (isCreated && !isEmpty) await administer(...tables);
        isEmpty = true;
        const store = await postgresStore(postgresUrl, { schema, driver });
        isCreated = true;
        return store;
      },
    };
  };
  const setUp = (): void => {
    afterAll(async () => {
      isCreated = false;
      await drop();
    });
  };
  return [`PostgreSQL with ${driver}${postgresHint}`, place, setUp];
}
