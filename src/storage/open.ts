/** Opens database files: private, shared between processes, and only of the right format. */
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
   * A commit always survives the end of the process; with `true` also a power failure, at the cost of waiting for the
   * disk. @default false
   */
  readonly powerSafe?: boolean | undefined;
  /** Opens a read-only file for reading, if it is of the latest version. @default false */
  readonly orReadOnly?: boolean | undefined;
  /**
   * Called when opening fails, before the connection closes. SQLite leaves a moved file alone; otherwise, closing
   * merges its log into it.
   */
  readonly onFailure?: ((error: StoreError) => void) | undefined;
}

export interface OpenDatabase extends Database {
  /** Closes without merging the log into the file. */
  readonly abandon: () => void;
  readonly isReadOnly: boolean;
}

/** Milliseconds between retries while another process prepares the file. */
const RETRY = 10;

/** Bytes of the shortest database file. */
const HEADER = 100;

/** Opens a database file, or creates it, readable for its owner only. */
export async function openDatabase(file: string, options: OpenOptions): Promise<OpenDatabase> {
  // Every driver takes an absolute path as one, not as ":memory:" or "file:".
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

/** Opens a store in a database file; closes the file if that fails. */
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
 * Creates a private file. An existing one is not opened: closing it would release the locks of other connections of
 * this process.
 */
function makePrivate(file: string): void {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isDirectory()) throw new StoreError('unavailable', `${file} cannot be opened: it is a folder`, { file });
    if (found === undefined) closeSync(openSync(file, 'wx', 0o600));
    // SQLite takes a file of one byte for an empty one.
    else if (found.size > 0 && found.size < HEADER) throw new StoreError('foreign', `${file} is no database`, { file });
  } catch (thrown) {
    // Another process was faster.
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
  // Check the file before changing it, and do not trust it to run code.
  database.exec('PRAGMA trusted_schema = OFF');
}

async function makeReady(database: Database, file: string, busyTimeout: number, options: OpenOptions): Promise<void> {
  setUp(database, busyTimeout);
  const version = versionOf(database, options.format, file);
  // Only a file without tables can be set to shrink.
  if (version === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  // Switching to a write-ahead log does not wait for other processes.
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

/** Merges the log, which some drivers leave, unless others still use it. */
function closeWhole(database: Database): void {
  try {
    database.exec('PRAGMA busy_timeout = 0');
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  } catch {
    // The data is as safe in the log.
  }
  database.close();
}
