/** The store in a SQLite file, which outlives the process. For Node only. */

import { SQLITE } from '../../storage/dialect.js';
import { storeError } from '../../storage/errors.js';
import { openStore, type SqliteOptions as SqliteStoreOptions } from '../../storage/open.js';
import { type DatabaseStore, storeIn } from './database-store.js';
import { SESSION_FORMAT } from './sqlite-format.js';
import type { Change, ColdEntry, EndpointStore, SessionStore } from './store.js';

export type { BetterSqlite3Constructor, NodeSqliteConstructor } from '../../storage/adapters.js';
export { betterSqlite3, nodeSqlite } from '../../storage/adapters.js';
export type { Database, Driver, Row, SqlValue, Statement } from '../../storage/database.js';
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export { StoreError, type StoreReason } from '../../text/store-error.js';
export type { ColdChange } from './store.js';
export type { Change, ColdEntry, EndpointStore, SessionStore, SqliteStoreOptions };

/** A store in a SQLite file. */
export interface SqliteStore extends DatabaseStore {
  /**
   * Runs a function in the next turn of the event loop, in one transaction with the functions of all other calls of this turn. With many
   * sessions in one file, this takes a fraction of the time of a transaction for each frame. A transaction has at most 256 functions; the others
   * follow in the next turn.
   *
   * The promise is fulfilled with the result of the function when all changes are stored, so a frame can be sent at once. If the function
   * throws, the promise is rejected, and what the function stored before it threw remains; the other functions of the transaction are not
   * affected. While the functions run, the file is locked for other processes and for other stores of this process: a function that writes to
   * such a store blocks for its `busyTimeoutMs`, and fails with `busy`. A store that a function closes is closed at the end of the transaction.
   *
   * @throws StoreError if the store fails: all promises of the transaction are rejected, and the sessions with changes in it cannot be used
   * any more; open them again
   * @throws TypeError if the function returns a promise
   * @example
   * socket.on('message', async (text) => {
   *   const outcome = await store.groupCommit(() => codec.decode(text, session));
   * });
   */
  readonly groupCommit: <T>(work: () => T) => Promise<T>;
}

/**
 * Opens or creates a store in a file that only its owner can read. Several processes may use the file at once.
 *
 * @throws StoreError if the file cannot be opened, is locked, or is not a session file
 * @throws TypeError if an option is invalid
 * @example
 * const store = await sqliteStore('sessions.db');
 * const session = createSession({ agent: 'planner', id: 'sprint14', store });
 */
export async function sqliteStore(file: string, options: SqliteStoreOptions = {}): Promise<SqliteStore> {
  return await openStore(file, { ...options, format: SESSION_FORMAT }, (database) => {
    const { store, transactions } = storeIn(database, SQLITE, (thrown) => storeError(thrown, file));
    return { ...store, groupCommit: (work) => transactions.group(work) };
  });
}
