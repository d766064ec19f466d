import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { StoreError } from '../text/store-error.js';
import type { Database, Statement } from './database.js';

/** The suffixes of logs, which contain part of the data. */
const LOGS = ['-wal', '-journal'];

/** The maximum number of attempts to run a statement while the file is being written. */
const MAX_ATTEMPTS = 10;

/** Returns whether a file exists and cannot be written, or its folder, where the log is, cannot be written. */
export function isReadOnly(file: string): boolean {
  if (!existsSync(file)) return false;
  const real = realpathSync(file);
  return !isWritable(real) || !isWritable(path.dirname(real));
}

function isWritable(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Opens a database for reading. If there is no log, SQLite can read a WAL file only as an immutable one
 * (https://www.sqlite.org/wal.html, "Read-Only Databases"), and then ignores locks. Therefore each statement is repeated on a new connection
 * if the file changed, or a log appeared, between opening the file and the end of the statement.
 *
 * @param open opens a connection; `immutable` is true if there is no log
 */
export function readOnlyDatabase(file: string, open: (immutable: boolean) => Database): Database {
  const real = realpathSync(file);
  let opened: Database | null = null;
  let immutable = false;
  let state = '';

  // A connection with a log sees the commits of other processes, and prevents the removal of the log.
  function isCurrent(): boolean {
    return !immutable || (stateOf(real) === state && !hasLog(real));
  }

  function current(): Database {
    if (opened !== null && isCurrent()) return opened;
    opened?.close();
    opened = null;
    state = stateOf(real);
    immutable = !hasLog(real);
    opened = open(immutable);
    return opened;
  }

  function run<T>(step: (database: Database) => T): T {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        const result = step(current());
        if (!immutable || stateOf(real) === state) return result;
      } catch (thrown) {
        // A file that is being changed may look damaged.
        if (!immutable || stateOf(real) === state) throw thrown;
      }
    }
    throw new StoreError('busy', `${file} keeps changing while it is read`, { file });
  }

  function prepare(sql: string): Statement {
    let preparedBy: Database | null = null;
    let prepared: Statement;
    const statement = (database: Database): Statement => {
      if (preparedBy !== database) prepared = database.prepare(sql);
      preparedBy = database;
      return prepared;
    };
    return {
      run: (...parameters) => run((database) => statement(database).run(...parameters)),
      get: (...parameters) => run((database) => statement(database).get(...parameters)),
      all: (...parameters) => run((database) => statement(database).all(...parameters)),
      iterate: (...parameters) => run((database) => statement(database).all(...parameters)),
    };
  }

  run(() => undefined);
  return {
    exec: (sql) => run((database) => database.exec(sql)),
    prepare,
    transaction() {
      throw new StoreError('unavailable', `${file} cannot be written`, { file });
    },
    close: () => opened?.close(),
  };
}

function stateOf(file: string): string {
  const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

function hasLog(file: string): boolean {
  return LOGS.some((suffix) => (statSync(file + suffix, { throwIfNoEntry: false })?.size ?? 0) > 0);
}
