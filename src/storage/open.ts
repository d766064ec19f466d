/** Opens database files: private, shared between processes, and never one of another kind. */
import { closeSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreError } from '../text/store-error.js';
import type { Database, Driver } from './database.js';
import { storeError } from './errors.js';
import { type Format, migrate, versionOf } from './migrate.js';
import { platformDriver } from './platform.js';
import { isReadOnly, readOnlyDatabase } from './read-only.js';

export interface OpenOptions {
  readonly format: Format;
  /** @default Node's own driver, or `@photostructure/sqlite` where it has none */
  readonly driver?: Driver | undefined;
  /** Milliseconds to wait while another process writes. @default 5000 */
  readonly busyTimeout?: number | undefined;
  /**
   * A commit is always safe against the end of the process, however it ends. With `true` also against the end of power,
   * at the cost of waiting for the disk; without, the last commits may then be missing, but the file is never damaged.
   * @default false
   */
  readonly powerSafe?: boolean | undefined;
  /**
   * Opens a file that cannot be written for reading; transactions fail then. A file of an earlier version is refused.
   * @default false
   */
  readonly orReadOnly?: boolean | undefined;
  /**
   * Called when opening fails, while the connection is still open. SQLite leaves a file alone that was moved before it is
   * closed; otherwise closing merges its log into it, and deletes the log.
   */
  readonly onFailure?: ((error: StoreError) => void) | undefined;
}

/** A database file that is open. Closing it leaves all data in the one file, unless others still use it. */
export interface OpenDatabase extends Database {
  /** Closes it without merging its log into the file. */
  readonly abandon: () => void;
  /** Whether it was opened for reading, since it cannot be written; see `orReadOnly`. */
  readonly isReadOnly: boolean;
}

/** How often a step is tried again while another process makes the file ready, in milliseconds. */
const RETRY = 10;

/** Bytes of the shortest file that is a database. */
const HEADER = 100;

/**
 * Opens a database file, and makes it when there is none: readable for its owner only.
 *
 * @throws StoreError when it cannot be opened, or is no file of the format; it is not changed then
 */
export async function openDatabase(file: string, options: OpenOptions): Promise<OpenDatabase> {
  // An absolute path is a path for every driver, and no ":memory:" or "file:" address.
  const absolute = path.resolve(file);
  const busyTimeout = options.busyTimeout ?? 5000;
  if (file === '') throw new TypeError('the name of a database file cannot be empty');
  if (!Number.isSafeInteger(busyTimeout) || busyTimeout < 0) {
    throw new TypeError('busyTimeout is a number of milliseconds, 0 or more');
  }
  makePrivate(absolute);
  const driver = options.driver ?? (await platformDriver(absolute));
  if (options.orReadOnly === true && isReadOnly(absolute)) return openToRead(driver, absolute, busyTimeout, options);
  const database = openWith(driver, absolute);
  try {
    await makeReady(database, absolute, busyTimeout, options);
    return { ...database, close: () => closeWhole(database), abandon: database.close, isReadOnly: false };
  } catch (thrown) {
    const error = storeError(thrown, absolute);
    try {
      options.onFailure?.(error);
    } finally {
      database.close();
    }
    throw error;
  }
}

/**
 * Opens a database file and makes a store of it; if that fails, closes the file again.
 *
 * @throws StoreError if the file cannot be opened, or is no file of the format
 */
export async function openStore<S>(
  file: string,
  options: OpenOptions,
  make: (database: OpenDatabase) => S,
): Promise<S> {
  const database = await openDatabase(file, options);
  try {
    return make(database);
  } catch (thrown) {
    database.close();
    throw storeError(thrown, file);
  }
}

function openToRead(driver: Driver, file: string, busyTimeout: number, options: OpenOptions): OpenDatabase {
  const { format } = options;
  try {
    const database = readOnlyDatabase(file, (immutable) => {
      const opened = driver(file, immutable);
      try {
        setUp(opened, busyTimeout);
        if (versionOf(opened, format, file) === format.migrations.length) return opened;
        throw new StoreError('unavailable', `${file} is of an earlier version, and cannot be written`, { file });
      } catch (thrown) {
        opened.close();
        throw thrown;
      }
    });
    return { ...database, abandon: database.close, isReadOnly: true };
  } catch (thrown) {
    const error = storeError(thrown, file);
    options.onFailure?.(error);
    throw error;
  }
}

/**
 * Makes a private file where there is none. A file that is there is not opened: closing it would take away the locks
 * that another connection of this process has on it.
 */
function makePrivate(file: string): void {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isDirectory()) throw new StoreError('unavailable', `${file} cannot be opened: it is a folder`, { file });
    if (found === undefined) closeSync(openSync(file, 'wx', 0o600));
    // SQLite takes a file of one byte for an empty one.
    else if (found.size > 0 && found.size < HEADER) throw new StoreError('foreign', `${file} is no database`, { file });
  } catch (thrown) {
    // Somebody else was faster.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw storeError(thrown, file);
  }
}

function openWith(driver: Driver, file: string): Database {
  try {
    return driver(file);
  } catch (thrown) {
    throw storeError(thrown, file);
  }
}

function setUp(database: Database, busyTimeout: number): void {
  database.exec(`PRAGMA busy_timeout = ${busyTimeout}`);
  // A file is looked at before anything in it is changed, and is not trusted to run code.
  database.exec('PRAGMA trusted_schema = OFF');
}

async function makeReady(database: Database, file: string, busyTimeout: number, options: OpenOptions): Promise<void> {
  setUp(database, busyTimeout);
  const version = versionOf(database, options.format, file);
  // Only a file without tables can be made so that it shrinks when something is removed.
  if (version === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  // The change to a write-ahead log does not wait for other processes by itself.
  for (let waited = 0; ; waited += RETRY) {
    try {
      database.prepare('PRAGMA journal_mode = WAL').get();
      break;
    } catch (thrown) {
      if (storeError(thrown, file).reason !== 'busy' || waited >= busyTimeout) throw thrown;
      await wait(RETRY);
    }
  }
  database.exec(`PRAGMA synchronous = ${options.powerSafe === true ? 'FULL' : 'NORMAL'}`);
  database.exec('PRAGMA foreign_keys = ON');
  migrate(database, options.format, file);
}

/** Closes with all data in the one file, unless others still use its log. Some drivers leave it in the log. */
function closeWhole(database: Database): void {
  try {
    database.exec('PRAGMA busy_timeout = 0');
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  } catch {
    // The data is as safe in the log.
  }
  database.close();
}
