/** Database files that cannot be written are read all the same. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { StoreError } from '../text/store-error.js';
import type { Database, Statement } from './database.js';

/** What SQLite keeps beside a file while it has not all of its data. */
const LOGS = ['-wal', '-journal'];

/** How often a statement is run again because the file was written meanwhile. */
const TRIES = 10;

/** Whether a file is there, and it or its folder, where SQLite makes the log, cannot be written. */
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
 * A database that is only read. Without a log, SQLite reads a file in WAL mode only as an immutable one
 * (https://www.sqlite.org/wal.html, "Read-Only Databases"), and then heeds no locks. Others may be able to write it, though. So each
 * statement is run on the file as it was from before the connection to after the statement: where it was written meanwhile, or a log
 * has come, it is opened again.
 *
 * @param open opens and checks it; `immutable` where there is no log
 * @throws StoreError when it cannot be read
 */
export function readOnlyDatabase(file: string, open: (immutable: boolean) => Database): Database {
  const real = realpathSync(file);
  let opened: Database | null = null;
  let immutable = false;
  let state = '';

  /** A connection with a log sees by itself what others write, and keeps them from removing the log. */
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
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        const result = step(current());
        if (!immutable || stateOf(real) === state) return result;
      } catch (thrown) {
        // A file that changes under the connection may look damaged.
        if (!immutable || stateOf(real) === state) throw thrown;
      }
    }
    throw new StoreError('busy', `${file} is written again and again while it is read`, { file });
  }

  function prepare(sql: string): Statement {
    let by: Database | null = null;
    let prepared: Statement;
    const statement = (database: Database): Statement => {
      if (by !== database) prepared = database.prepare(sql);
      by = database;
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

/** Changes when the file is written, or another one takes its place. */
function stateOf(file: string): string {
  const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}

function hasLog(file: string): boolean {
  return LOGS.some((suffix) => (statSync(file + suffix, { throwIfNoEntry: false })?.size ?? 0) > 0);
}
