/** The stores that the tests of stores, journals and streams run with. */

import { memoryStore } from '../../../src/accp/store/memory.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import type { SessionStore } from '../../../src/accp/store/store.js';
import { DRIVERS } from '../../storage/drivers.js';

/** One place of storage: `open` opens it, again where it is a file. */
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
];
