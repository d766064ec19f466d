/** The store in a database: the same in SQLite and in PostgreSQL. */

import { assertDurations } from '../../async/durations.js';
import type { Database, Statement } from '../../storage/database.js';
import type { Dialect } from '../../storage/dialect.js';
import { StoreError } from '../../text/store-error.js';
import { Transactions } from './database-transactions.js';
import type { Change, ColdEntry, EndpointStore, SessionStore } from './store.js';

/** The mark of encoded names: SQLite cuts text at a zero character, and UTF-8 has no lone surrogates. */
const MARK = '\u0001';
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Encodes a name reversibly; most names are unchanged. */
function encodeName(name: string): string {
  const unsafe = name.startsWith(MARK) || name.includes('\0') || LONE_SURROGATE.test(name);
  return unsafe ? MARK + JSON.stringify(name) : name;
}

function decodeName(encoded: string): string {
  return encoded.startsWith(MARK) ? (JSON.parse(encoded.slice(MARK.length)) as string) : encoded;
}

function statementsOf({ table, forUpdate }: Dialect) {
  const [endpoint, entry, cold] = ['endpoint', 'entry', 'cold'].map(table);
  return {
    /** Creates or takes over the endpoint. */
    claim: `INSERT INTO ${endpoint} (session, agent, generation) VALUES (?, ?, 1)
      ON CONFLICT (session, agent) DO UPDATE SET generation = endpoint.generation + 1
      RETURNING id, generation`,
    generation: `SELECT generation FROM ${endpoint} WHERE id = ? ${forUpdate}`,
    knows: `SELECT EXISTS (SELECT 1 FROM ${entry} JOIN ${endpoint} ON endpoint.id = entry.endpoint WHERE endpoint.session = ?)
      OR EXISTS (SELECT 1 FROM ${cold} WHERE session = ?) AS known`,
    entries: `SELECT collection, key, value FROM ${entry} WHERE endpoint = ? ORDER BY id`,
    set: `INSERT INTO ${entry} (endpoint, collection, key, value) VALUES (?, ?, ?, ?)
      ON CONFLICT (endpoint, collection, key) DO UPDATE SET value = excluded.value`,
    remove: `DELETE FROM ${entry} WHERE endpoint = ? AND collection = ? AND key = ?`,
    setCold: `INSERT INTO ${cold} (session, key, value, expires_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (session, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
    /** Until the value is set, the number of the endpoint replaces it. */
    reserveCold: `INSERT INTO ${cold} (session, key, value, expires_at) VALUES (?, ?, ?, 0)
      ON CONFLICT (session, key) DO UPDATE SET expires_at = 0 WHERE cold.expires_at = 0 AND cold.value = excluded.value
      RETURNING key`,
    readCold: `SELECT value, expires_at FROM ${cold} WHERE session = ? AND key = ?`,
    sessionsWithCold: `SELECT session FROM ${cold} WHERE key = ? AND (expires_at IS NULL OR expires_at <> 0) ORDER BY session`,
    emptyCold: `UPDATE ${cold} SET value = 'null' WHERE expires_at <= ? AND expires_at <> 0 AND value <> 'null' RETURNING id`,
    removeCold: `DELETE FROM ${cold} WHERE expires_at <= ?`,
  } as const;
}

type Statements = { readonly [name in keyof ReturnType<typeof statementsOf>]: Statement };

function prepareStatements(database: Database, dialect: Dialect): Statements {
  const statements = Object.entries(statementsOf(dialect)).map(
    ([name, text]) => [name, database.prepare(text)] as const,
  );
  return Object.fromEntries(statements) as Statements;
}

/** A store in a database. */
export interface DatabaseStore extends SessionStore {
  /**
   * Drops the values of the cold tier that expired at `now` or before. Their keys remain for `retentionMs` after they expired, and are read
   * as expired (E2002) instead of unknown (E2001).
   *
   * @param now the current time, in milliseconds since 1970
   * @param retentionMs the retention of the keys in milliseconds; `Infinity` for ever. @default 30 days
   * @returns the number of dropped values
   * @throws StoreError if the store fails
   * @throws TypeError if `retentionMs` is invalid
   */
  readonly purgeExpired: (now: number, retentionMs?: number) => number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

interface Connection {
  readonly statements: Statements;
  /** Runs a step, and converts errors to StoreErrors. */
  readonly attempt: <T>(step: () => T) => T;
  readonly transactions: Transactions;
}

/** Returns the store in an open database, and its transactions. @param toStoreError converts errors of the database */
export function storeIn(
  database: Database,
  dialect: Dialect,
  toStoreError: (thrown: unknown) => StoreError,
): { readonly store: DatabaseStore; readonly transactions: Transactions } {
  const statements = prepareStatements(database, dialect);
  let closed = false;

  function attempt<T>(step: () => T): T {
    if (closed) throw new StoreError('closed', 'The store is closed');
    try {
      return step();
    } catch (thrown) {
      throw toStoreError(thrown);
    }
  }

  const transactions = new Transactions(database, attempt);
  const connection: Connection = { statements, attempt, transactions };
  const store: DatabaseStore = {
    durable: true,
    claim: (session, agent) => claimEndpoint(connection, session, agent),
    has: (session) => {
      const name = encodeName(session);
      return attempt(() => statements.knows.get(name, name)!['known'] === 1);
    },
    purgeExpired(now, retentionMs = 30 * DAY_MS) {
      assertDurations({ retentionMs }, 0);
      const purge = (): number => {
        const dropped = statements.emptyCold.all(now).length;
        statements.removeCold.run(now - retentionMs);
        return dropped;
      };
      return transactions.run(purge, () => undefined);
    },
    close() {
      transactions.afterGroup(() => {
        if (closed) return;
        closed = true;
        database.close();
      });
    },
  };
  return { store, transactions };
}

function claimEndpoint(connection: Connection, session: string, agent: string): EndpointStore {
  const { statements, attempt, transactions } = connection;
  const encodedSession = encodeName(session);
  let rolledBack: StoreError | null = null;
  const lost = (error: StoreError): void => {
    rolledBack ??= error;
  };
  const write = <T>(step: () => T): T => transactions.run(step, lost);
  const row = write(() => statements.claim.get(encodedSession, encodeName(agent))!);
  const id = row['id']!;
  const generation = row['generation']!;
  let released = false;

  function checkOpen(): void {
    // The session is ahead of the store: continuing would reuse numbers after a restart.
    if (rolledBack !== null) throw rolledBack;
    if (released) throw new StoreError('closed', `@${agent} of session ${session} was released`);
  }

  function read<T>(step: () => T): T {
    checkOpen();
    return attempt(step);
  }

  function apply({ collection, key, value }: Change): void {
    if (value === null) statements.remove.run(id, encodeName(collection), encodeName(key));
    else statements.set.run(id, encodeName(collection), encodeName(key), value);
  }

  return {
    entries: () =>
      read(() =>
        statements.entries.all(id).map((entry) => ({
          collection: decodeName(entry['collection'] as string),
          key: decodeName(entry['key'] as string),
          value: entry['value'] as string,
        })),
      ),
    commit(changes, cold = []) {
      checkOpen();
      write(() => {
        if (statements.generation.get(id)?.['generation'] !== generation) {
          throw new StoreError('taken', `@${agent} of session ${session} was claimed by another owner`);
        }
        for (const change of changes) apply(change);
        for (const { key, value, expiresAt } of cold)
          statements.setCold.run(encodedSession, encodeName(key), value, expiresAt);
      });
    },
    reserveCold(key) {
      checkOpen();
      return write(() => statements.reserveCold.get(encodedSession, encodeName(key), String(id)) !== undefined);
    },
    readCold: (key) => read(() => readCold(statements, encodedSession, key)),
    readColdOf: (other, key) => read(() => readCold(statements, encodeName(other), key)),
    sessionsWithCold: (key) =>
      read(() =>
        statements.sessionsWithCold.all(encodeName(key)).map((found) => decodeName(found['session'] as string)),
      ),
    release() {
      released = true;
    },
  };
}

function readCold(statements: Statements, session: string, key: string): ColdEntry | undefined {
  const row = statements.readCold.get(session, encodeName(key));
  return row && { value: row['value'] as string, expiresAt: row['expires_at'] as number | null };
}
