/** The stores that the tests of stores, journals and streams run with. */

import { onTestFinished } from 'vitest';
import { memoryStore } from '../../../src/accp/store/memory.js';
import { postgresStore } from '../../../src/accp/store/postgres.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import type { SessionStore } from '../../../src/accp/store/store.js';
import { hasPostgres, newSchema, postgresUrl } from '../../helpers/postgres.js';
import { DRIVERS } from '../../storage/drivers.js';

/** One place of storage: `open` opens it, again where it is a file or a database. */
export interface Place {
  readonly open: () => Promise<SessionStore>;
}

/** @param fresh gives names of new files */
export const STORES: readonly (readonly [name: string, place: (fresh: () => string) => Place])[] = [
  [
    'memory',
    () => {
      const store = memoryStore();
      return { open: async () => store };
    },
  ],
  ...DRIVERS.map(
    ([name, driver]) =>
      [
        `SQLite with ${name}`,
        (fresh: () => string): Place => {
          const file = fresh();
          return { open: () => sqliteStore(file, { driver }) };
        },
      ] as const,
  ),
  ...(hasPostgres ? (['postgres', 'pg'] as const) : []).map(
    (driver) =>
      [
        `PostgreSQL with ${driver}`,
        (): Place => {
          const { schema, drop } = newSchema();
          onTestFinished(drop);
          return { open: () => postgresStore(postgresUrl, { schema, driver }) };
        },
      ] as const,
  ),
];
