/** The registry in a SQLite file, which several processes may share. Node only. */
// biome-ignore lint/correctness/noNodejsModules: the registry is a file
import { chmodSync, realpathSync, statSync } from 'node:fs';
// biome-ignore lint/correctness/noNodejsModules: reads the platform
import process from 'node:process';
import { SQLITE } from '../../storage/dialect.js';
import { storeError } from '../../storage/errors.js';
import { type OpenDatabase, openDatabase, type SqliteOptions } from '../../storage/open.js';
import { identityOf, makeFolderOf, userDataFile } from '../../storage/paths.js';
import { isDamagedOwn, type Origin, setAside } from '../../storage/set-aside.js';
import { resolveChoice } from '../../text/limits.js';
import { StoreError, type StoreReason } from '../../text/store-error.js';
import { systemReason } from '../../text/system-reason.js';
import { registryOver } from './database-registry.js';
import { type Connection, prepareStatements } from './database-rows.js';
import { memoryRegistry } from './memory.js';
import { type Limits, type NoticeListener, type RegistryOptions, resolveLimits } from './options.js';
import type { Registry } from './registry.js';
import { REGISTRY_FORMAT, REGISTRY_MARK } from './sqlite-format.js';

export type { BetterSqlite3Constructor, NodeSqliteConstructor } from '../../storage/adapters.js';
export { betterSqlite3, nodeSqlite } from '../../storage/adapters.js';
export type { Database, Driver, Row, SqlValue, Statement } from '../../storage/database.js';
export { StoreError, type StoreReason } from '../../text/store-error.js';
export type { NoticeListener, RegistryNotice } from './options.js';

/** Options of `sqliteRegistry`. */
export interface SqliteRegistryOptions extends RegistryOptions, SqliteOptions {
  /**
   * If true, a file that cannot be written is opened for reading, and writes throw `store-unavailable`. A file of an earlier version is rejected.
   * @default false
   */
  readonly allowReadOnly?: boolean | undefined;
  /**
   * The reaction to a damaged file, which is renamed to `FILE.corrupt-TIME`, unchanged. `fail` throws a StoreError with code
   * `store-corrupt`, and the next call creates an empty registry; `renew` creates it at once. Damage that is found after the file was
   * opened always throws that error. @default 'fail'
   */
  readonly onCorrupt?: 'fail' | 'renew' | undefined;
  /** Called with notices about the file. @default none */
  readonly onNotice?: NoticeListener | undefined;
}

const NAMES = ['driver', 'busyTimeoutMs', 'powerSafe', 'allowReadOnly', 'onCorrupt', 'onNotice'];

/** Returns the path of the default registry: `registry.db` in the user's data folder, or in the folder named by `PEGWIRE_DATA_DIR`. */
export function defaultRegistryFile(): string {
  return withStoreErrors('registry.db', () => userDataFile('registry.db'));
}

/**
 * Opens a registry in a file, readable for its owner only. Creates the file and its folder if they do not exist. Removes the permissions of
 * other users, since it contains instructions. Reads hits from a cache until another process writes.
 *
 * @param file the path of the file @default `defaultRegistryFile()`
 * @throws StoreError with code `store-corrupt` if the file is damaged, see `onCorrupt`; `store-foreign` if it belongs to another program,
 *   and is left as it is; `store-misconfigured` for `:memory:` and `file:` addresses, see `memoryRegistry`; `store-newer` if a later
 *   version of pegwire wrote it; `store-busy`, `store-full`, `store-unavailable` or `store-no-driver` if it cannot be opened
 * @throws TypeError if an option is invalid
 * @example
 * const registry = await sqliteRegistry();
 * const encoder = createFallbackEncoder({ registry, model });
 */
export async function sqliteRegistry(file?: string, options: SqliteRegistryOptions = {}): Promise<Registry> {
  const limits = resolveLimits(options, NAMES);
  const { onCorrupt, onNotice } = options;
  const strategy = resolveChoice('onCorrupt', onCorrupt, ['fail', 'renew']);
  if (onNotice !== undefined && typeof onNotice !== 'function') throw new TypeError('onNotice must be a function');
  if (file !== undefined && (typeof file !== 'string' || file === ''))
    throw new TypeError('file must be the path of a file');
  // SQLite would open a database without a file, or interpret the name as a URI.
  if (file?.startsWith('file:') || file?.trim() === ':memory:') throw noFile(file);
  const name = file ?? defaultRegistryFile();
  const path = withStoreErrors(name, () => makeFolderOf(name));
  const origin: Origin = { format: REGISTRY_FORMAT, mark: REGISTRY_MARK, isInPlace: file === undefined };
  const open = async (): Promise<Registry> => {
    const database = await openedDatabase(path, origin, options, limits);
    // Only now is the file known to be a registry. The permissions of a file that cannot be written stay unchanged.
    if (!database.isReadOnly) makePrivate(path, onNotice);
    return registryOver(connection(database, path, limits, onNotice), limits);
  };
  try {
    return await open();
  } catch (thrown) {
    if (strategy === 'fail' || !(thrown instanceof StoreError) || thrown.reason !== 'corrupt') throw thrown;
    return open();
  }
}

/**
 * Copies a registry that cannot be written into memory. `isCopy` is `false` if there is no file, or if it cannot be read.
 *
 * @throws StoreError if the file can be read and is damaged, or is not a registry
 */
export async function memoryCopy(
  file?: string,
  options: Pick<SqliteRegistryOptions, 'ttlMs' | 'onNotice'> = {},
): Promise<{ readonly registry: Registry; readonly isCopy: boolean }> {
  const registry = memoryRegistry({ ttlMs: options.ttlMs });
  try {
    const source = await sqliteRegistry(file, { ...options, allowReadOnly: true });
    try {
      registry.putAll(source.entries());
    } finally {
      source.close();
    }
    return { registry, isCopy: true };
  } catch (thrown) {
    if (!isUnwritable(thrown)) throw thrown;
    return { registry, isCopy: false };
  }
}

/** The reasons for which the default registry is replaced by one in memory, as in a container. A wrong setting is not one of them. */
const UNWRITABLE: readonly StoreReason[] = ['unavailable', 'full', 'no-driver', 'failed'];

/** Returns whether opening a registry failed because its folder or file cannot be used. */
export function isUnwritable(thrown: unknown): thrown is StoreError {
  return thrown instanceof StoreError && UNWRITABLE.includes(thrown.reason);
}

function noFile(file: string): StoreError {
  const message = `${JSON.stringify(file)} is not the name of a file. For a registry in memory, use memoryRegistry() or --registry memory.`;
  const help = `to use a file of that name, write ${JSON.stringify(`./${file}`)}`;
  return new StoreError('misconfigured', message, { help });
}

function withStoreErrors<T>(file: string, step: () => T): T {
  try {
    return step();
  } catch (thrown) {
    throw storeError(thrown, file);
  }
}

async function openedDatabase(
  file: string,
  origin: Origin,
  { driver, busyTimeoutMs, powerSafe, allowReadOnly, onNotice }: SqliteRegistryOptions,
  limits: Limits,
): Promise<OpenDatabase> {
  const identity = withStoreErrors(file, () => identityOf(file));
  const settings = { driver, busyTimeoutMs, powerSafe, allowReadOnly };
  let isOurs = false;
  let aside: string | null = null;

  /** Renames a damaged file. Called before and after the connection is closed, since some systems cannot rename an open file. */
  function renameDamaged(error: StoreError): void {
    isOurs ||= isDamagedOwn(error, file, origin);
    if (isOurs) aside ??= renameIfPossible(file, identity, limits.now());
  }

  try {
    return await openDatabase(file, { ...settings, format: origin.format, onFailure: renameDamaged });
  } catch (thrown) {
    if (thrown instanceof TypeError) throw thrown;
    const cause = storeError(thrown, file);
    renameDamaged(cause);
    if (!isOurs) throw cause.reason === 'corrupt' ? foreignError(cause, file) : cause;
    const error = corruptError(file, aside, cause);
    onNotice?.({ kind: 'set-aside', file, movedTo: aside, message: error.message });
    throw error;
  }
}

/** A cache of 16 MB, since entries are spread over the file; and a checkpoint of the log after every 16 MB. */
const SETTINGS = 'PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000';

/** Makes the connection. @throws StoreError if the file lacks a part that its version has: it is damaged, and was renamed */
function connection(
  database: OpenDatabase,
  file: string,
  { now }: Limits,
  onNotice: NoticeListener | undefined,
): Connection {
  const identity = identityOf(file);
  let ended: StoreError | null = null;

  function damaged(cause: unknown): StoreError {
    const aside = renameIfPossible(file, identity, now());
    const error = corruptError(file, aside, cause);
    ended = error;
    // After renaming the file: SQLite then leaves the log with its old name alone, which may belong to another file by now.
    try {
      database.abandon();
    } catch {
      // The connection is not used any more.
    }
    onNotice?.({ kind: 'set-aside', file, movedTo: aside, message: error.message });
    return error;
  }

  function attempt<T>(step: () => T): T {
    if (ended !== null) {
      const { reason, message, help, cause } = ended;
      throw new StoreError(reason, message, { file, help, cause });
    }
    try {
      return step();
    } catch (thrown) {
      // A mistake of the caller, or of its clock.
      if (thrown instanceof StoreError || thrown instanceof TypeError) throw thrown;
      const error = storeError(thrown, file);
      throw error.reason === 'corrupt' || error.reason === 'foreign' ? damaged(error) : error;
    }
  }

  function checkPath(): void {
    // Later readers would not find what is written to a file that was moved or deleted.
    if (identityOf(file) === identity) return;
    const message = `The registry ${file} was moved, deleted or replaced while it was open.`;
    throw new StoreError('unavailable', message, { file, help: 'open it again' });
  }

  const statements = attempt(() => {
    database.exec(SETTINGS);
    const prepared = prepareStatements(database, SQLITE);
    // If a part of the file was cut off, these rows are missing. The rest is read on demand.
    for (const probe of [prepared.lastEntry, prepared.lastKey, prepared.lastPosting]) probe.get();
    return prepared;
  });

  const dataVersion = attempt(() => database.prepare('PRAGMA data_version'));
  return {
    file,
    name: file,
    version: () => dataVersion.get()!['data_version'],
    notify: (notice) => onNotice?.(notice),
    attempt,
    statements,
    write: (step) =>
      attempt(() => {
        checkPath();
        return database.transaction(step);
      }),
    isReadOnly: database.isReadOnly,
    isOpen: () => ended === null,
    close() {
      if (ended !== null) return;
      ended = new StoreError('closed', 'The registry is closed.', { file });
      database.close();
    },
  };
}

function renameIfPossible(file: string, identity: string | null, now: number): string | null {
  try {
    return setAside(file, identity, now);
  } catch {
    // The error that led here is the one to report.
    return null;
  }
}

/** Returns the error for a damaged file that may belong to another program. */
function foreignError(cause: StoreError, file: string): StoreError {
  const message = `${file} is damaged and does not look like a registry. It is left as it is.`;
  return new StoreError('foreign', message, { file, help: 'name another file', cause });
}

/** Returns the error for a damaged registry. @param aside the name to which the file was renamed; `null` if that failed */
function corruptError(file: string, aside: string | null, cause: unknown): StoreError {
  const message =
    aside === null
      ? `The registry ${file} is damaged and could not be renamed. It is not overwritten.`
      : `The registry ${file} is damaged. It was renamed to ${aside}, unchanged; opening the registry again creates an empty one.`;
  const help =
    aside === null ? 'move the file to another folder' : `recover its content with: sqlite3 ${aside} .recover`;
  return new StoreError('corrupt', message, { file, help, cause });
}

/** The permissions of other users, and those that the owner needs. */
const OTHERS = 0o077;
const OWNER = 0o600;

/** Removes the permissions of other users from an open file and its log, or reports the failure. On Windows, the mode does not show them. */
function makePrivate(file: string, onNotice: NoticeListener | undefined): void {
  if (process.platform === 'win32') return;
  const real = realPathOf(file);
  for (const path of [file, `${real}-wal`, `${real}-shm`]) {
    try {
      // Another process may close and remove it at any time.
      const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
      if ((mode & OTHERS) !== 0) chmodSync(path, mode & OWNER);
    } catch (thrown) {
      const reason = systemReason(thrown);
      const message = `Other users can read the registry ${path}, and their permissions could not be removed: ${reason}.`;
      onNotice?.({ kind: 'not-private', file: path, message });
    }
  }
}

/** Returns the path behind links: SQLite keeps the log next to that file. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // The file was moved; the next write reports it.
    return file;
  }
}
