import { pathToFileURL } from 'node:url';
import type { Database, Driver, Row, SqlValue, Statement } from './database.js';

/** The class `DatabaseSync` of `node:sqlite` and of packages with the same interface. */
export type NodeSqliteConstructor = new (
  file: string,
  options?: { readOnly?: boolean },
) => RawDatabase<{
  run(...parameters: SqlValue[]): unknown;
  get(...parameters: SqlValue[]): unknown;
  all(...parameters: SqlValue[]): unknown[];
  iterate(...parameters: SqlValue[]): Iterable<unknown>;
}>;

/** The default export of `better-sqlite3` and of packages with the same interface, such as `libsql`. */
export type BetterSqlite3Constructor = new (
  file: string,
) => RawDatabase<{
  run(parameters: readonly SqlValue[]): unknown;
  all(parameters: readonly SqlValue[]): unknown[];
  iterate(parameters: readonly SqlValue[]): Iterable<unknown>;
}>;

interface RawDatabase<S> {
  exec(sql: string): unknown;
  prepare(sql: string): S;
  close(): unknown;
}

/** Creates a driver from the class `DatabaseSync` of `node:sqlite` or `@photostructure/sqlite`. */
export function nodeSqlite(DatabaseSync: NodeSqliteConstructor): Driver {
  return (file, immutable = false) => {
    const raw = immutable
      ? new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true })
      : new DatabaseSync(file);
    return database(raw, (sql) => {
      const statement = raw.prepare(sql);
      return {
        run: (...parameters) => void statement.run(...parameters),
        get: (...parameters) => statement.get(...parameters) as Row | undefined,
        all: (...parameters) => statement.all(...parameters) as Row[],
        iterate: (...parameters) => statement.iterate(...parameters) as Iterable<Row>,
      };
    });
  };
}

/**
 * Creates a driver from the constructor of `better-sqlite3` or `libsql`. Such a driver cannot read files in folders that are not writable.
 *
 * @example
 * import Database from 'better-sqlite3';
 * const store = await sqliteStore('session.db', { driver: betterSqlite3(Database) });
 */
export function betterSqlite3(Constructor: BetterSqlite3Constructor): Driver {
  return (file) => {
    const raw = new Constructor(file);
    return database(raw, (sql) => {
      const statement = raw.prepare(sql);
      // Parameters are passed as one array, since a single null would count as an object of named parameters. `get` reads all
      // rows, since libsql does not reset a statement after reading only one.
      return {
        run: (...parameters) => void statement.run(parameters),
        get: (...parameters) => statement.all(parameters)[0] as Row | undefined,
        all: (...parameters) => statement.all(parameters) as Row[],
        iterate: (...parameters) => statement.iterate(parameters) as Iterable<Row>,
      };
    });
  };
}

function database(raw: RawDatabase<unknown>, prepare: (sql: string) => Statement): Database {
  const begin = prepare('BEGIN IMMEDIATE');
  const commit = prepare('COMMIT');
  return {
    exec: (sql) => void raw.exec(sql),
    prepare,
    transaction(work) {
      begin.run();
      try {
        const result = work();
        commit.run();
        return result;
      } catch (thrown) {
        rollBack(raw);
        throw thrown;
      }
    },
    close: () => void raw.close(),
  };
}

function rollBack(raw: RawDatabase<unknown>): void {
  try {
    raw.exec('ROLLBACK');
  } catch {
    // After some errors, SQLite has already rolled back. The caller throws the original error.
  }
}
