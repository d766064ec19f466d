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
import type { StoreError, StoreReason } from '../../text/store-error.js';
import { systemReason } from '../../text/system-reason.js';
import { RegistryError, type RegistryErrorCode } from './errors.js';
import { memoryRegistry } from './memory.js';
import { type Limits, type NoticeListener, type RegistryOptions, resolveLimits } from './options.js';
import type { Registry } from './registry.js';
import { sqliteRegistryOver } from './sqlite-registry.js';
import { type Connection, prepareStatements, REGISTRY_FORMAT, REGISTRY_MARK, type Statements } from './sqlite-rows.js';

export type { BetterSqlite3Constructor, NodeSqliteConstructor } from '../../storage/adapters.js';
export { betterSqlite3, nodeSqlite } from '../../storage/adapters.js';
export type { Database, Driver, Row, SqlValue, Statement } from '../../storage/database.js';
export { StoreError, type StoreReason } from '../../text/store-error.js';
export type { NoticeListener, RegistryNotice } from './options.js';

export interface SqliteRegistryOptions extends RegistryOptions {
  /** Another driver, such as `betterSqlite3(Database)`. @default `node:sqlite`, or `@photostructure/sqlite` on Node 20 */
  readonly driver?: Driver | undefined;
  /** Milliseconds that a call waits, and blocks, while another process writes. @default 5000 */
  readonly busyTimeout?: number | undefined;
  /**
   * What was put in survives the end of the process, `kill -9` included. With `true` also the end of power, at the cost of
   * waiting for the disk each time; without, the last entries may then be missing, but the file is never damaged.
   *
   * @default false
   */
  readonly powerSafe?: boolean | undefined;
  /**
   * Opens a file that cannot be written for reading: what writes then fails with `registry-unavailable`. Otherwise it is refused. A file
   * of an earlier version is refused in any case.
   *
   * @default false
   */
  readonly orReadOnly?: boolean | undefined;
  /**
   * What to do about a damaged file. It is always renamed to `FILE.corrupt-TIME`, unchanged, and a notice told. Then `fail` throws
   * a RegistryError with code `registry-corrupt`, and the next opening begins an empty registry; `renew` begins it at once. A
   * file that is found damaged only later is set aside then, with that error, in either case.
   *
   * @default 'fail'
   */
  readonly onCorrupt?: 'fail' | 'renew' | undefined;
  /** Is told what happened to the file beside errors. @default nobody */
  readonly onNotice?: NoticeListener | undefined;
}

interface Settings {
  readonly limits: Limits;
  readonly onNotice: NoticeListener | undefined;
  readonly open: Pick<SqliteRegistryOptions, 'driver' | 'busyTimeout' | 'powerSafe' | 'orReadOnly'>;
}

const NAMES = ['driver', 'busyTimeout', 'powerSafe', 'orReadOnly', 'onCorrupt', 'onNotice'];

/** The default file of the registry: `registry.db` in the user's data folder, or in the one that `PEGWIRE_DATA_DIR` names. */
export function defaultRegistryFile(): string {
  return told('registry.db', () => userDataFile('registry.db'));
}

/**
 * A registry in a file, which is made when there is none, readable for its owner only; so is its folder. A file that others may
 * read is taken from them: it holds instructions. Hits are served from memory for as long as no other process writes.
 *
 * @param file @default `defaultRegistryFile()`
 * @throws RegistryError `registry-corrupt` when the file is damaged, see `onCorrupt`; `bad-registry-file` when it is another
 *   program's, which is left alone; `registry-newer` when a later version wrote it; `registry-busy`, `registry-full` or
 *   `registry-unavailable` when it cannot be opened: its `cause` is a StoreError then; `bad-registry-file` for `:memory:` and
 *   what begins with `file:`, which name no file: see `memoryRegistry`
 * @throws TypeError on options that are none
 * @example
 * const registry = await sqliteRegistry();
 * const encoder = createFallbackEncoder({ registry, model });
 */
export async function sqliteRegistry(file?: string, options: SqliteRegistryOptions = {}): Promise<Registry> {
  const limits = resolveLimits(options, NAMES);
  const { driver, busyTimeout, powerSafe, orReadOnly, onCorrupt, onNotice } = options;
  const strategy = resolveChoice('onCorrupt', onCorrupt, ['fail', 'renew']);
  if (onNotice !== undefined && typeof onNotice !== 'function') throw new TypeError('onNotice is a function');
  if (file !== undefined && (typeof file !== 'string' || file === ''))
    throw new TypeError('file is the name of a file');
  if (file !== undefined && isNoFile(file)) throw noFile(file);
  const wanted = file ?? defaultRegistryFile();
  const path = told(wanted, () => makeFolderOf(wanted));
  const origin: Origin = { format: REGISTRY_FORMAT, mark: REGISTRY_MARK, isInPlace: file === undefined };
  const settings: Settings = { limits, onNotice, open: { driver, busyTimeout, powerSafe, orReadOnly } };
  try {
    return await opened(path, origin, settings);
  } catch (thrown) {
    if (strategy === 'fail' || !(thrown instanceof RegistryError) || thrown.code !== 'registry-corrupt') throw thrown;
    return opened(path, origin, settings);
  }
}

/** A registry in memory in the place of one in a file that cannot be written. */
export interface MemoryCopy {
  readonly registry: Registry;
  /** Whether it has the entries of the file. `false` where there is no file, or it cannot be read. */
  readonly isCopy: boolean;
}

/**
 * Reads a registry that cannot be written into memory.
 *
 * @param file @default `defaultRegistryFile()`
 * @throws RegistryError on a file that can be read and is no registry, or a damaged one
 */
export async function memoryCopy(
  file?: string,
  options: Pick<SqliteRegistryOptions, 'ttl' | 'onNotice'> = {},
): Promise<MemoryCopy> {
  const registry = memoryRegistry({ ttl: options.ttl });
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

/**
 * Tells whether the folder or the file of a registry cannot be written, as in a container, so that encoding goes on in memory. A setting
 * that is wrong is an error.
 */
export function isUnwritable(thrown: unknown): thrown is RegistryError {
  if (!(thrown instanceof RegistryError)) return false;
  const isMisconfigured = (thrown.cause as { readonly reason?: unknown } | undefined)?.reason === 'misconfigured';
  return (thrown.code === 'registry-unavailable' && !isMisconfigured) || thrown.code === 'registry-full';
}

/** To SQLite these are databases without a file, or addresses; here they would be files of such names. */
function isNoFile(file: string): boolean {
  return file.startsWith('file:') || file.trim() === ':memory:';
}

/** For those who write code, and for those at the command line. */
function noFile(file: string): RegistryError {
  const name = JSON.stringify(file);
  const message = `${name} names no file; for a registry in memory there is memoryRegistry(), or --registry memory.`;
  const help = `name a file; one that is really called so is ${JSON.stringify(`./${file}`)}`;
  return new RegistryError({ code: 'bad-registry-file', message, help });
}

function told<T>(file: string, step: () => T): T {
  try {
    return step();
  } catch (thrown) {
    throw registryError(thrown, file);
  }
}

async function opened(file: string, origin: Origin, { limits, onNotice, open }: Settings): Promise<Registry> {
  const database = await openedDatabase(file, origin, { limits, onNotice, open });
  // The file is known to be a registry only now. The permissions of one that cannot be written are left as they are.
  if (!database.isReadOnly) makePrivate(file, onNotice);
  return sqliteRegistryOver(connection(database, { file, now: limits.now, onNotice }), limits);
}

async function openedDatabase(
  file: string,
  origin: Origin,
  { limits, onNotice, open }: Settings,
): Promise<OpenDatabase> {
  const identity = told(file, () => identityOf(file));
  let isOurs = false;
  let aside: string | null = null;

  /** Before the connection is closed, and once more after, for systems where no open file can be renamed. */
  function consider(error: StoreError): void {
    isOurs ||= isDamagedOwn(error, file, origin);
    if (isOurs) aside ??= triedAside(file, identity, limits.now());
  }

  try {
    return await openDatabase(file, { ...open, format: origin.format, onFailure: consider });
  } catch (thrown) {
    if (thrown instanceof TypeError) throw thrown;
    const cause = storeError(thrown, file);
    consider(cause);
    if (!isOurs) throw cause.reason === 'corrupt' ? strangerError(cause, file) : registryError(cause, file);
    const error = corruptError(file, aside, cause);
    onNotice?.({ kind: 'set-aside', file, to: aside, message: error.message });
    throw error;
  }
}

export interface ConnectionOptions {
  readonly file: string;
  readonly now: () => number;
  readonly onNotice: NoticeListener | undefined;
}

/**
 * Entries that are asked for, or put in, lie all over the file. So more of it is held in memory (in kibibytes), and pages that are
 * changed again and again are written to their places less often (after so many pages of the log, 16 MB).
 */
const SETTINGS = 'PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000';

/** @throws RegistryError when the file lacks what its version says that it has: it is damaged, and was set aside */
export function connection(database: OpenDatabase, options: ConnectionOptions): Connection {
  const { file, now, onNotice } = options;
  const identity = identityOf(file);
  const tell: NoticeListener = (notice) => onNotice?.(notice);
  let ended: RegistryError | null = null;

  function damaged(cause: unknown): RegistryError {
    const aside = triedAside(file, identity, now());
    const error = corruptError(file, aside, cause);
    ended = error;
    // After the file was moved: SQLite then leaves the log alone that has its old name, which may be another file's by now.
    abandon(database);
    tell({ kind: 'set-aside', file, to: aside, message: error.message });
    return error;
  }

  function failure(thrown: unknown): Error {
    // Wrong use by the caller, or by its clock.
    if (thrown instanceof RegistryError || thrown instanceof TypeError) return thrown;
    const error = storeError(thrown, file);
    return isDamage(error) ? damaged(error) : registryError(error, file);
  }

  function attempt<T>(step: () => T): T {
    if (ended !== null) throw new RegistryError(ended, { cause: ended.cause });
    try {
      return step();
    } catch (thrown) {
      throw failure(thrown);
    }
  }

  function checkPlace(): void {
    // What is written to a file that has been moved or deleted is lost to all who open it by its name.
    if (identityOf(file) === identity) return;
    throw new RegistryError({
      code: 'registry-unavailable',
      message: `The registry ${file} was moved, deleted or replaced while it was open.`,
      help: 'open it again',
    });
  }

  return {
    file,
    tell,
    attempt,
    statements: prepared(database, failure),
    write: (step) =>
      attempt(() => {
        checkPlace();
        return database.transaction(step);
      }),
    isReadOnly: database.isReadOnly,
    isOpen: () => ended === null,
    close() {
      if (ended !== null) return;
      ended = new RegistryError({ code: 'registry-closed', message: 'The registry was closed.' });
      database.close();
    },
  };
}

function prepared(database: OpenDatabase, failure: (thrown: unknown) => Error): Statements {
  try {
    database.exec(SETTINGS);
    const statements = prepareStatements(database);
    // What was cut off is missing at the ends. All the rest is read when it is needed.
    for (const probe of [statements.lastEntry, statements.lastKey, statements.lastPosting]) probe.get();
    return statements;
  } catch (thrown) {
    throw failure(thrown);
  }
}

/** Sets a file aside; `null` where that does not work. */
export function triedAside(file: string, identity: string | null, now: number): string | null {
  try {
    return setAside(file, identity, now);
  } catch {
    // The error to tell is the one that led here.
    return null;
  }
}

function abandon(database: OpenDatabase): void {
  try {
    database.abandon();
  } catch {
    // Nothing more will come from it.
  }
}

const CODES: Readonly<Record<StoreReason, RegistryErrorCode>> = {
  taken: 'registry-unavailable',
  closed: 'registry-unavailable',
  'no-driver': 'registry-unavailable',
  foreign: 'bad-registry-file',
  newer: 'registry-newer',
  corrupt: 'registry-corrupt',
  busy: 'registry-busy',
  full: 'registry-full',
  unavailable: 'registry-unavailable',
  misconfigured: 'registry-unavailable',
  failed: 'registry-unavailable',
};

/** What can be done about it. */
const HELP: Readonly<Partial<Record<StoreReason, string>>> = {
  foreign: 'name another file; this one is left as it is',
  newer: 'use the version of pegwire that wrote it, or name another file',
  busy: 'try again, or give a longer busyTimeout',
};

/** What storage threw, as a RegistryError with the StoreError as its cause. */
export function registryError(thrown: unknown, file: string): RegistryError {
  if (thrown instanceof RegistryError) return thrown;
  const cause = storeError(thrown, file);
  return new RegistryError(
    { code: CODES[cause.reason], message: `The registry ${cause.message}.`, help: HELP[cause.reason] },
    { cause },
  );
}

/** A damaged file that says nothing of a registry: it may be somebody else's. */
export function strangerError(cause: StoreError, file: string): RegistryError {
  const message = `${file} is damaged, and it does not look like a registry; it is left as it is.`;
  return new RegistryError({ code: 'bad-registry-file', message, help: HELP.foreign }, { cause });
}

/** @param aside where the file is now; `null` when it could not be set aside */
export function corruptError(file: string, aside: string | null, cause: unknown): RegistryError {
  const message =
    aside === null
      ? `The registry ${file} is damaged, and could not be set aside.`
      : `The registry ${file} is damaged. It was set aside, unchanged, as ${aside}; the next opening begins an empty one.`;
  const help =
    aside === null ? 'move it away; nothing is written over it' : 'what can be read of it: sqlite3 FILE .recover';
  return new RegistryError({ code: 'registry-corrupt', message, help }, { cause });
}

/** Whether a file that could be opened is one no longer. */
export function isDamage(error: StoreError): boolean {
  return error.reason === 'corrupt' || error.reason === 'foreign';
}

/** What anybody but the owner may do. */
const OTHERS = 0o077;
const OWNER = 0o600;

/** The files beside a database that hold parts of it. */
const BESIDE = ['-wal', '-shm'];

/**
 * Takes from all but the owner what they may do with the file of a registry that is open, and with its log. Where that fails, a
 * notice is told. Not on Windows, where the mode says nothing about others.
 */
export function makePrivate(file: string, onNotice: NoticeListener | undefined): void {
  if (process.platform === 'win32') return;
  const real = realPathOf(file);
  for (const path of [file, ...BESIDE.map((suffix) => `${real}${suffix}`)]) {
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

/** Where a link leads to: SQLite keeps the log there, and not beside the link. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // Somebody has just moved it. The registry tells that as soon as it writes.
    return file;
  }
}
