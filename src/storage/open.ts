/** Opening of database files: private to their owner, shared between processes, and only of the expected format. */
import { closeSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreError } from '../text/store-error.js';
import type { Database, Driver } from './database.js';
import { storeError } from './errors.js';
import { type Format, migrate, versionOf } from './migrate.js';
import { platformDriver } from './platform.js';
import { isReadOnly, readOnlyDatabase } from './read-only.js';

/** Options of every store in a SQLite file. */
export interface SqliteOptions {
  /** The driver, such as `betterSqlite3(Database)`. @default `node:sqlite`, or `@photostructure/sqlite` if Node has none */
  readonly driver?: Driver | undefined;
  /** Milliseconds that a call waits, and blocks, while another process writes; `Infinity` waits forever. @default 5000 */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * If true, commits survive a power failure, at the cost of waiting for the disk. Otherwise a power failure may lose the last commits, but
   * does not damage the file. Commits always survive the end of the process, including `kill -9`.
   * @default false
   */
  readonly powerSafe?: boolean | undefined;
}

/** Options of {@link openDatabase}. */
export interface OpenOptions extends SqliteOptions {
  /** The format of the file. */
  readonly format: Format;
  /** If true, a file that cannot be written is opened for reading, if it has the latest format. @default false */
  readonly allowReadOnly?: boolean | undefined;
  /**
   * Called when opening fails, before the connection closes. Closing merges the log into the file, unless the listener has renamed the file.
   */
  readonly onFailure?: ((error: StoreError) => void) | undefined;
}

/** A database in a file. */
export interface OpenDatabase extends Database {
  /** Closes the database without merging the log into the file. */
  readonly abandon: () => void;
  /** `true` if the file was opened for reading only. */
  readonly isReadOnly: boolean;
}

/** The longest timeout that SQLite takes, 25 days. */
const MAX_BUSY_TIMEOUT_MS = 2 ** 31 - 1;

/** Milliseconds between retries while another process prepares the file. */
const RETRY_DELAY_MS = 10;

/** The length of the header of a database file in bytes. */
const HEADER_BYTES = 100;

/**
 * Opens or creates a database file. A new file is accessible to its owner only.
 *
 * @throws StoreError if the file cannot be opened, or has another format
 * @throws TypeError if an option is invalid
 */
export async function openDatabase(file: string, options: OpenOptions): Promise<OpenDatabase> {
  const busyTimeoutMs = resolveBusyTimeout(options.busyTimeoutMs);
  const absolute = resolveFile(file);
  makePrivate(absolute);
  const driver = options.driver ?? (await platformDriver(absolute));
  if (options.allowReadOnly === true && isReadOnly(absolute))
    return openToRead(driver, absolute, busyTimeoutMs, options);
  const database = openWith(driver, absolute);
  try {
    await prepare(database, absolute, busyTimeoutMs, options);
    return { ...database, close: () => mergeAndClose(database), abandon: database.close, isReadOnly: false };
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
 * Returns the absolute path of a file, to which drivers give no meaning of their own, as they do to ":memory:" and "file:".
 *
 * @throws TypeError if the name is empty
 */
export function resolveFile(file: string): string {
  if (file === '') throw new TypeError('the name of a database file must not be empty');
  return path.resolve(file);
}

/**
 * Returns a timeout as SQLite takes it: an integer of at most 31 bits.
 *
 * @throws TypeError if the timeout is neither a non-negative integer nor `Infinity`
 */
export function resolveBusyTimeout(busyTimeoutMs = 5000): number {
  if (busyTimeoutMs === Number.POSITIVE_INFINITY || (Number.isSafeInteger(busyTimeoutMs) && busyTimeoutMs >= 0))
    return Math.min(busyTimeoutMs, MAX_BUSY_TIMEOUT_MS);
  throw new TypeError(`busyTimeoutMs must be a non-negative integer or Infinity; got ${String(busyTimeoutMs)}`);
}

/** Opens a store in a database file; closes the file if `create` throws. */
export async function openStore<S>(
  file: string,
  options: OpenOptions,
  create: (database: OpenDatabase) => S,
): Promise<S> {
  const database = await openDatabase(file, options);
  try {
    return create(database);
  } catch (thrown) {
    database.close();
    throw storeError(thrown, file);
  }
}

function openToRead(driver: Driver, file: string, busyTimeoutMs: number, options: OpenOptions): OpenDatabase {
  const { format } = options;
  try {
    const database = readOnlyDatabase(file, (immutable) => {
      const opened = driver(file, immutable);
      try {
        setUp(opened, busyTimeoutMs);
        if (versionOf(opened, format, file) === format.migrations.length) return opened;
        throw new StoreError(
          'unavailable',
          `${file} has an earlier format, and cannot be upgraded because it is not writable`,
          { file },
        );
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
 * Creates a private file if none exists. Does not open an existing one: closing it would release the locks of other connections in
 * this process.
 */
function makePrivate(file: string): void {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isDirectory()) throw new StoreError('unavailable', `${file} cannot be opened: it is a folder`, { file });
    if (stats === undefined) closeSync(openSync(file, 'wx', 0o600));
    // SQLite treats a file of one byte as empty.
    else if (stats.size > 0 && stats.size < HEADER_BYTES)
      throw new StoreError('foreign', `${file} is not a database; it was not changed`, { file });
  } catch (thrown) {
    // Another process created the file first.
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

function setUp(database: Database, busyTimeoutMs: number): void {
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  // The schema of the file is not trusted to run code.
  database.exec('PRAGMA trusted_schema = OFF');
}

async function prepare(database: Database, file: string, busyTimeoutMs: number, options: OpenOptions): Promise<void> {
  setUp(database, busyTimeoutMs);
  const version = versionOf(database, options.format, file);
  // Only a file without tables can be set to auto-vacuum.
  if (version === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  // Switching to a write-ahead log ignores the busy timeout of SQLite.
  for (let waited = 0; ; waited += RETRY_DELAY_MS) {
    try {
      database.prepare('PRAGMA journal_mode = WAL').get();
      break;
    } catch (thrown) {
      if (storeError(thrown, file).reason !== 'busy' || waited >= busyTimeoutMs) throw thrown;
      await wait(RETRY_DELAY_MS);
    }
  }
  database.exec(`PRAGMA synchronous = ${options.powerSafe === true ? 'FULL' : 'NORMAL'}`);
  database.exec('PRAGMA foreign_keys = ON');
  migrate(database, options.format, file);
}

/** Closes a database after merging its log, which some drivers leave behind, unless other connections use it. */
function mergeAndClose(database: Database): void {
  try {
    database.exec('PRAGMA busy_timeout = 0');
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  } catch {
    // The data is safe in the log, too.
  }
  database.close();
}
