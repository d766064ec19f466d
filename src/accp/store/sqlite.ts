/** Sessions in a SQLite file: they outlive the process, however it ends. Node only. */
import type { Database, Driver } from '../../storage/database.js';
import { storeError } from '../../storage/errors.js';
import { openStore } from '../../storage/open.js';
import { StoreError } from '../../text/store-error.js';
import { heldName, nameOf } from './keys.js';
import { SESSION_FORMAT } from './sqlite-format.js';
import { prepareStatements, type Statements } from './sqlite-statements.js';
import type { Change, ColdEntry, EndpointStore, SessionStore } from './store.js';

export type { BetterSqlite3Constructor, NodeSqliteConstructor } from '../../storage/adapters.js';
export { betterSqlite3, nodeSqlite } from '../../storage/adapters.js';
export type { Database, Driver, Row, SqlValue, Statement } from '../../storage/database.js';
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export { StoreError, type StoreReason } from '../../text/store-error.js';
export type { ColdChange } from './store.js';
export type { Change, ColdEntry, EndpointStore, SessionStore };

export interface SqliteStoreOptions {
  /** Another driver, such as `betterSqlite3(Database)`. @default `node:sqlite`, or `@photostructure/sqlite` on Node 20 */
  readonly driver?: Driver | undefined;
  /** Milliseconds that a call waits, and blocks, while another process writes. @default 5000 */
  readonly busyTimeout?: number | undefined;
  /**
   * What was committed survives the end of the process, `kill -9` included. With `true` also the end of power, at the
   * cost of waiting for the disk at every commit; without, the last commits may then be missing, but the file is never
   * damaged.
   * @default false
   */
  readonly powerSafe?: boolean | undefined;
}

export interface SqliteStore extends SessionStore {
  /**
   * Drops the values of the cold tier that expired at `now` (seconds since 1970) or before. Their keys are kept for
   * `keep` seconds more, so that a reference to one is still told as expired (E2002) and not as unknown (E2001).
   *
   * @param keep @default 30 days
   * @returns how many values were dropped
   */
  readonly purgeExpired: (now: number, keep?: number) => number;
}

const DAY = 24 * 60 * 60;

/**
 * A store in a file, which is made when there is none, readable for its owner only. Several processes may use it at
 * once.
 *
 * @throws StoreError if the file cannot be opened, is locked, or is no session file
 */
export async function sqliteStore(file: string, options: SqliteStoreOptions = {}): Promise<SqliteStore> {
  return await openStore(file, { ...options, format: SESSION_FORMAT }, (database) =>
    storeIn(database, prepareStatements(database), file),
  );
}

/** A database with what a store needs beside it. */
interface Connection {
  readonly statements: Statements;
  /** Runs a step, and tells its errors as the store's. */
  readonly attempt: <T>(step: () => T) => T;
  /** The same in a transaction. */
  readonly write: <T>(step: () => T) => T;
}

function storeIn(database: Database, statements: Statements, file: string): SqliteStore {
  let closed = false;

  function attempt<T>(step: () => T): T {
    if (closed) throw new StoreError('closed', 'the store was closed');
    try {
      return step();
    } catch (thrown) {
      throw storeError(thrown, file);
    }
  }

  const connection: Connection = { statements, attempt, write: (step) => attempt(() => database.transaction(step)) };
  return {
    durable: true,
    claim: (session, agent) => claimed(connection, session, agent),
    knows: (session) => attempt(() => statements.knows.get(heldName(session))!['known'] === 1),
    purgeExpired(now, keep = 30 * DAY) {
      return connection.write(() => {
        const dropped = statements.emptyCold.all(now).length;
        statements.removeCold.run(now - keep);
        return dropped;
      });
    },
    close() {
      if (closed) return;
      closed = true;
      database.close();
    },
  };
}

function claimed({ statements, attempt, write }: Connection, session: string, agent: string): EndpointStore {
  const held = heldName(session);
  const row = write(() => statements.claim.get(held, heldName(agent))!);
  const id = row['id']!;
  const generation = row['generation']!;
  let released = false;

  function checkOpen(): void {
    if (released) throw new StoreError('closed', `@${agent} of session ${session} was given back to the store`);
  }

  function apply({ collection, key, value }: Change): void {
    if (value === null) statements.remove.run(id, heldName(collection), heldName(key));
    else statements.set.run(id, heldName(collection), heldName(key), value);
  }

  return {
    entries() {
      checkOpen();
      return attempt(() =>
        statements.entries.all(id).map((entry) => ({
          collection: nameOf(entry['collection'] as string),
          key: nameOf(entry['key'] as string),
          value: entry['value'] as string,
        })),
      );
    },
    commit(changes, cold = []) {
      checkOpen();
      write(() => {
        if (statements.generation.get(id)?.['generation'] !== generation) {
          throw new StoreError('taken', `@${agent} of session ${session} was claimed by another holder`);
        }
        for (const change of changes) apply(change);
        for (const { key, value, expires } of cold) statements.setCold.run(held, heldName(key), value, expires);
      });
    },
    reserveCold(key) {
      checkOpen();
      return write(() => statements.reserveCold.get(held, heldName(key), String(id)) !== undefined);
    },
    readCold(key) {
      checkOpen();
      return attempt(() => readCold(statements, held, key));
    },
    readColdOf(other, key) {
      checkOpen();
      return attempt(() => readCold(statements, heldName(other), key));
    },
    sessionsWithCold(key) {
      checkOpen();
      return attempt(() =>
        statements.sessionsWithCold.all(heldName(key)).map((found) => nameOf(found['session'] as string)),
      );
    },
    release() {
      released = true;
    },
  };
}

function readCold(statements: Statements, session: string, key: string): ColdEntry | undefined {
  const row = statements.readCold.get(session, heldName(key));
  return row && { value: row['value'] as string, expires: row['expires'] as number | null };
}
