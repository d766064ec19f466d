/** Sessions in a SQLite file, which outlive the process. Node only. */

import type { Database, Driver, Statement } from '../../storage/database.js';
import { storeError } from '../../storage/errors.js';
import { openStore } from '../../storage/open.js';
import { StoreError } from '../../text/store-error.js';
import { SESSION_FORMAT } from './sqlite-format.js';
import type { Change, ColdEntry, EndpointStore, SessionStore } from './store.js';

/** SQLite cuts text at a zero character, and writes UTF-8, which has no lone surrogates. */
const MARK = '\u0001';
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Encodes a name reversibly; most names are unchanged. */
function heldName(name: string): string {
  const unsafe = name.startsWith(MARK) || name.includes('\0') || LONE_SURROGATE.test(name);
  return unsafe ? MARK + JSON.stringify(name) : name;
}

function nameOf(held: string): string {
  return held.startsWith(MARK) ? (JSON.parse(held.slice(MARK.length)) as string) : held;
}

const SQL = {
  /** Creates or takes over the endpoint. */
  claim: `INSERT INTO endpoint (session, agent, generation) VALUES (?, ?, 1)
    ON CONFLICT (session, agent) DO UPDATE SET generation = generation + 1
    RETURNING id, generation`,
  generation: 'SELECT generation FROM endpoint WHERE id = ?',
  knows: `SELECT EXISTS (SELECT 1 FROM entry JOIN endpoint ON endpoint.id = entry.endpoint WHERE endpoint.session = ?1)
    OR EXISTS (SELECT 1 FROM cold WHERE session = ?1) AS known`,
  entries: 'SELECT collection, key, value FROM entry WHERE endpoint = ? ORDER BY id',
  set: `INSERT INTO entry (endpoint, collection, key, value) VALUES (?, ?, ?, ?)
    ON CONFLICT (endpoint, collection, key) DO UPDATE SET value = excluded.value`,
  remove: 'DELETE FROM entry WHERE endpoint = ? AND collection = ? AND key = ?',
  setCold: `INSERT INTO cold (session, key, value, expires_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (session, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
  /** Until the value is set, the number of the endpoint holds its place. */
  reserveCold: `INSERT INTO cold (session, key, value, expires_at) VALUES (?, ?, ?, 0)
    ON CONFLICT (session, key) DO UPDATE SET expires_at = 0 WHERE expires_at IS 0 AND value = excluded.value RETURNING key`,
  readCold: 'SELECT value, expires_at FROM cold WHERE session = ? AND key = ?',
  sessionsWithCold: 'SELECT session FROM cold WHERE key = ? AND expires_at IS NOT 0 ORDER BY session',
  emptyCold: `UPDATE cold SET value = 'null' WHERE expires_at <= ? AND expires_at <> 0 AND value <> 'null' RETURNING id`,
  removeCold: 'DELETE FROM cold WHERE expires_at <= ?',
} as const;

type Statements = { readonly [name in keyof typeof SQL]: Statement };

function prepareStatements(database: Database): Statements {
  const statements = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)] as const);
  return Object.fromEntries(statements) as Statements;
}

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
  /** Milliseconds that a call blocks while another process writes. @default 5000 */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * Commits always survive the end of the process, `kill -9` included. With `true` also a power failure, at the cost of waiting for
   * the disk at every commit; otherwise the last commits may be lost, but the file is never damaged.
   * @default false
   */
  readonly powerSafe?: boolean | undefined;
}

export interface SqliteStore extends SessionStore {
  /**
   * Drops the values of the cold tier that expired at `now` (milliseconds since 1970) or before. Their keys are kept for `keepMs` milliseconds
   * more, and read as expired (E2002), not as unknown (E2001).
   *
   * @param keepMs @default 30 days
   * @returns the number of values dropped
   */
  readonly purgeExpired: (now: number, keepMs?: number) => number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Opens or creates a store in a file, readable for its owner only. Several processes may use it at once.
 *
 * @throws StoreError if the file cannot be opened, is locked, or is not a session file
 */
export async function sqliteStore(file: string, options: SqliteStoreOptions = {}): Promise<SqliteStore> {
  return await openStore(file, { ...options, format: SESSION_FORMAT }, (database) =>
    storeIn(database, prepareStatements(database), file),
  );
}

interface Connection {
  readonly statements: Statements;
  /** Runs a step and converts its errors to StoreErrors. */
  readonly attempt: <T>(step: () => T) => T;
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
    has: (session) => attempt(() => statements.knows.get(heldName(session))!['known'] === 1),
    purgeExpired(now, keepMs = 30 * DAY_MS) {
      return connection.write(() => {
        const dropped = statements.emptyCold.all(now).length;
        statements.removeCold.run(now - keepMs);
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

  function read<T>(step: () => T): T {
    checkOpen();
    return attempt(step);
  }

  function apply({ collection, key, value }: Change): void {
    if (value === null) statements.remove.run(id, heldName(collection), heldName(key));
    else statements.set.run(id, heldName(collection), heldName(key), value);
  }

  return {
    entries: () =>
      read(() =>
        statements.entries.all(id).map((entry) => ({
          collection: nameOf(entry['collection'] as string),
          key: nameOf(entry['key'] as string),
          value: entry['value'] as string,
        })),
      ),
    commit(changes, cold = []) {
      checkOpen();
      write(() => {
        if (statements.generation.get(id)?.['generation'] !== generation) {
          throw new StoreError('taken', `@${agent} of session ${session} was claimed by another holder`);
        }
        for (const change of changes) apply(change);
        for (const { key, value, expiresAt } of cold) statements.setCold.run(held, heldName(key), value, expiresAt);
      });
    },
    reserveCold(key) {
      checkOpen();
      return write(() => statements.reserveCold.get(held, heldName(key), String(id)) !== undefined);
    },
    readCold: (key) => read(() => readCold(statements, held, key)),
    readColdOf: (other, key) => read(() => readCold(statements, heldName(other), key)),
    sessionsWithCold: (key) =>
      read(() => statements.sessionsWithCold.all(heldName(key)).map((found) => nameOf(found['session'] as string))),
    release() {
      released = true;
    },
  };
}

function readCold(statements: Statements, session: string, key: string): ColdEntry | undefined {
  const row = statements.readCold.get(session, heldName(key));
  return row && { value: row['value'] as string, expiresAt: row['expires_at'] as number | null };
}
