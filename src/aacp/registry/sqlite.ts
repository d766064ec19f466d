/** The registry in a SQLite file, which several processes may share. Node only. */
// biome-ignore lint/correctness/noNodejsModules: files are what this is about
import { chmodSync, realpathSync, statSync } from 'node:fs';
// biome-ignore lint/correctness/noNodejsModules: the mask of the process is asked for
import process from 'node:process';
import type { Driver } from '../../storage/database.js';
import { storeError } from '../../storage/errors.js';
import { type OpenDatabase, openDatabase } from '../../storage/open.js';
import { identityOf, makeFolderOf, userDataFile } from '../../storage/place.js';
import { isDamagedOwn, type Origin, setAside } from '../../storage/set-aside.js';
import { resolveChoice } from '../../text/limits.js';
import { StoreError, type StoreReason } from '../../text/store-error.js';
import { systemReason } from '../../text/system-reason.js';
import { memoryRegistry } from './memory.js';
import { type Limits, type NoticeListener, type RegistryOptions, resolveLimits } from './options.js';
import type { Registry } from './registry.js';
import { sqliteRegistryOver } from './sqlite-registry.js';
import { type Connection, prepareStatements, REGISTRY_FORMAT, REGISTRY_MARK } from './sqlite-rows.js';

export type { BetterSqlite3Constructor, NodeSqliteConstructor } from '../../storage/adapters.js';
export { betterSqlite3, nodeSqlite } from '../../storage/adapters.js';
export type { Database, Driver, Row, SqlValue, Statement } from '../../storage/database.js';
export { StoreError, type StoreReason } from '../../text/store-error.js';
export type { NoticeListener, RegistryNotice } from './options.js';

export interface SqliteRegistryOptions extends RegistryOptions {
  /** Another driver, such as `betterSqlite3(Database)`. @default `node:sqlite`, or `@photostructure/sqlite` on Node 20 */
  readonly driver?: Driver | undefined;
  /** Milliseconds that a call waits, and blocks, while another process writes. @default 5000 */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * Whether entries survive a power failure too, at the cost of waiting for the disk each time. They always survive the end of the
   * process, `kill -9` included, and the file is never damaged. @default false
   */
  readonly powerSafe?: boolean | undefined;
  /**
   * Opens a file that cannot be written for reading; writes fail with `registry-unavailable`. A file of an earlier version is refused.
   * @default false
   */
  readonly orReadOnly?: boolean | undefined;
  /**
   * What happens to a damaged file. It is renamed to `FILE.corrupt-TIME`, unchanged, and reported. `fail` throws a StoreError
   * with code `store-corrupt`; the next opening begins an empty registry; `renew` begins it at once. A file that is found damaged
   * after it was opened is set aside with that error in either case. @default 'fail'
   */
  readonly onCorrupt?: 'fail' | 'renew' | undefined;
  /** Receives what happens to the file beside errors. @default none */
  readonly onNotice?: NoticeListener | undefined;
}

const NAMES = ['driver', 'busyTimeoutMs', 'powerSafe', 'orReadOnly', 'onCorrupt', 'onNotice'];

/** The default file of the registry: `registry.db` in the user's data folder, or in the one that `PEGWIRE_DATA_DIR` names. */
export function defaultRegistryFile(): string {
  return withStoreErrors('registry.db', () => userDataFile('registry.db'));
}

/**
 * Opens a registry in a file, readable for its owner only; creates the file and its folder if they do not exist. Takes the
 * permissions of others from a file that has them: it holds instructions. Serves hits from memory until another process writes.
 *
 * @param file @default `defaultRegistryFile()`
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
  if (onNotice !== undefined && typeof onNotice !== 'function') throw new TypeError('onNotice is a function');
  if (file !== undefined && (typeof file !== 'string' || file === ''))
    throw new TypeError('file is the name of a file');
  // To SQLite these are databases without a file, or addresses.
  if (file?.startsWith('file:') || file?.trim() === ':memory:') throw noFile(file);
  const wanted = file ?? defaultRegistryFile();
  const path = withStoreErrors(wanted, () => makeFolderOf(wanted));
  const origin: Origin = { format: REGISTRY_FORMAT, mark: REGISTRY_MARK, isInPlace: file === undefined };
  const open = async (): Promise<Registry> => {
    const database = await openedDatabase(path, origin, options, limits);
    // The file is known to be a registry only now. The permissions of one that cannot be written are left as they are.
    if (!database.isReadOnly) makePrivate(path, onNotice);
    return sqliteRegistryOver(connection(database, path, limits, onNotice), limits);
  };
  try {
    return await open();
  } catch (thrown) {
    if (strategy === 'fail' || !(thrown instanceof StoreError) || thrown.reason !== 'corrupt') throw thrown;
    return open();
  }
}

/**
 * Copies a registry that cannot be written into memory; `isCopy` is `false` if there is no file, or it cannot be read.
 *
 * @throws StoreError if the file can be read and is damaged, or is not a registry
 */
export async function memoryCopy(
  file?: string,
  options: Pick<SqliteRegistryOptions, 'ttlMs' | 'onNotice'> = {},
): Promise<{ readonly registry: Registry; readonly isCopy: boolean }> {
  const registry = memoryRegistry({ ttlMs: options.ttlMs });
  try {
    const source = await sqliteRegistry(file, { ...options, orReadOnly: true });
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

/** The reasons for which a default registry is kept in memory instead, as in a container. A wrong setting is not one of them. */
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
  { driver, busyTimeoutMs, powerSafe, orReadOnly, onNotice }: SqliteRegistryOptions,
  limits: Limits,
): Promise<OpenDatabase> {
  const identity = withStoreErrors(file, () => identityOf(file));
  const settings = { driver, busyTimeout: busyTimeoutMs, powerSafe, orReadOnly };
  let isOurs = false;
  let aside: string | null = null;

  /** Called before the connection is closed, and again after it, for systems where no open file can be renamed. */
  function consider(error: StoreError): void {
    isOurs ||= isDamagedOwn(error, file, origin);
    if (isOurs) aside ??= triedAside(file, identity, limits.now());
  }

  try {
    return await openDatabase(file, { ...settings, format: origin.format, onFailure: consider });
  } catch (thrown) {
    if (thrown instanceof TypeError) throw thrown;
    const cause = storeError(thrown, file);
    consider(cause);
    if (!isOurs) throw cause.reason === 'corrupt' ? strangerError(cause, file) : cause;
    const error = corruptError(file, aside, cause);
    onNotice?.({ kind: 'set-aside', file, to: aside, message: error.message });
    throw error;
  }
}

/** Entries lie all over the file: a cache of 16 MB, and the log is merged into the file less often, every 16 MB of it. */
const SETTINGS = 'PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000';

/** @throws StoreError if the file lacks a part that its version has: it is damaged, and was set aside */
function connection(
  database: OpenDatabase,
  file: string,
  { now }: Limits,
  onNotice: NoticeListener | undefined,
): Connection {
  const identity = identityOf(file);
  let ended: StoreError | null = null;

  function damaged(cause: unknown): StoreError {
    const aside = triedAside(file, identity, now());
    const error = corruptError(file, aside, cause);
    ended = error;
    // After the file was moved: SQLite then leaves the log alone that has its old name, which may be another file's by now.
    try {
      database.abandon();
    } catch {
      // Nothing more will come from it.
    }
    onNotice?.({ kind: 'set-aside', file, to: aside, message: error.message });
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
      // Wrong use by the caller, or by its clock.
      if (thrown instanceof StoreError || thrown instanceof TypeError) throw thrown;
      const error = storeError(thrown, file);
      throw error.reason === 'corrupt' || error.reason === 'foreign' ? damaged(error) : error;
    }
  }

  function checkPlace(): void {
    // What is written to a file that has been moved or deleted is lost to all who open it by its name.
    if (identityOf(file) === identity) return;
    const message = `The registry ${file} was moved, deleted or replaced while it was open.`;
    throw new StoreError('unavailable', message, { file, help: 'open it again' });
  }

  const statements = attempt(() => {
    database.exec(SETTINGS);
    const prepared = prepareStatements(database);
    // A part that was cut off is missing at the ends. All the rest is read when it is needed.
    for (const probe of [prepared.lastEntry, prepared.lastKey, prepared.lastPosting]) probe.get();
    return prepared;
  });

  return {
    file,
    tell: (notice) => onNotice?.(notice),
    attempt,
    statements,
    write: (step) =>
      attempt(() => {
        checkPlace();
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

function triedAside(file: string, identity: string | null, now: number): string | null {
  try {
    return setAside(file, identity, now);
  } catch {
    // The error to tell is the one that led here.
    return null;
  }
}

/** Returns the error for a damaged file that may belong to another program. */
function strangerError(cause: StoreError, file: string): StoreError {
  const message = `${file} is damaged and does not look like a registry. It is left as it is.`;
  return new StoreError('foreign', message, { file, help: 'name another file', cause });
}

/** @param aside the name to which the file was renamed; `null` if that failed */
function corruptError(file: string, aside: string | null, cause: unknown): StoreError {
  const message =
    aside === null
      ? `The registry ${file} is damaged and could not be renamed. It is not overwritten.`
      : `The registry ${file} is damaged. It was renamed to ${aside}, unchanged; opening the registry again creates an empty one.`;
  const help = aside === null ? 'move the file away' : `recover its content with: sqlite3 ${aside} .recover`;
  return new StoreError('corrupt', message, { file, help, cause });
}

/** What everybody but the owner may do, and what the owner may. */
const OTHERS = 0o077;
const OWNER = 0o600;

/** Makes an open file and its log private, or reports why that fails. On Windows, the mode says nothing about others. */
function makePrivate(file: string, onNotice: NoticeListener | undefined): void {
  if (process.platform === 'win32') return;
  const real = realPathOf(file);
  for (const path of [file, `${real}-wal`, `${real}-shm`]) {
    try {
      // Another process may just have closed it.
      const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
      if ((mode & OTHERS) !== 0) chmodSync(path, mode & OWNER);
    } catch (thrown) {
      const reason = systemReason(thrown);
      const message = `Others than its owner may read the registry ${path}, and that could not be changed: ${reason}.`;
      onNotice?.({ kind: 'not-private', file: path, message });
    }
  }
}

/** SQLite keeps the log beside the file that a link leads to. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // It has just been moved; the registry finds out when it writes.
    return file;
  }
}
