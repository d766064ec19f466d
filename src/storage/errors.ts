/** The errors of all drivers as one. */

/**
 * - `foreign`: the file is no database, or another program's.
 * - `newer`: a later version of pegwire wrote it.
 * - `corrupt`: it is damaged.
 * - `busy`: another process kept it locked for longer than the time-out.
 * - `full`: there is no room left.
 * - `unavailable`: it cannot be opened, read or written; or there is no driver.
 * - `failed`: any other error; see `cause`.
 */
export type StorageReason = 'foreign' | 'newer' | 'corrupt' | 'busy' | 'full' | 'unavailable' | 'failed';

/** A database file cannot be used. What was in the file is left as it was. */
export class StorageError extends Error {
  override readonly name: string = 'StorageError';
  readonly reason: StorageReason;
  readonly file: string;

  constructor(reason: StorageReason, file: string, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.reason = reason;
    this.file = file;
  }
}

/** The result codes of SQLite that tell more than that something failed, by their number and by their name. */
const CODES: readonly (readonly [number: number, name: string, reason: StorageReason, message: string])[] = [
  [5, 'SQLITE_BUSY', 'busy', 'is locked by another process'],
  [6, 'SQLITE_LOCKED', 'busy', 'is locked by another statement'],
  [8, 'SQLITE_READONLY', 'unavailable', 'cannot be written'],
  [10, 'SQLITE_IOERR', 'unavailable', 'cannot be read or written'],
  [11, 'SQLITE_CORRUPT', 'corrupt', 'is damaged'],
  [13, 'SQLITE_FULL', 'full', 'cannot grow: there is no room left'],
  [14, 'SQLITE_CANTOPEN', 'unavailable', 'cannot be opened'],
  [26, 'SQLITE_NOTADB', 'foreign', 'is no database; it is left as it is'],
];

/** Why the operating system does not open a file. */
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'part of the path is no folder',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
};

/** What a driver or the file system threw, as a {@link StorageError}. */
export function storageError(thrown: unknown, file: string): StorageError {
  if (thrown instanceof StorageError) return thrown;
  const { code, errcode, message } = thrown as { code?: unknown; errcode?: unknown; message?: unknown };
  // `node:sqlite` gives the extended number, better-sqlite3 the name, extended too: SQLITE_IOERR_WRITE.
  const known = CODES.find(([number, name]) => {
    return typeof errcode === 'number' ? (errcode & 0xff) === number : `${String(code)}_`.startsWith(`${name}_`);
  });
  if (known !== undefined) return new StorageError(known[2], file, `${file} ${known[3]}`, { cause: thrown });
  const system = typeof code === 'string' && Object.hasOwn(SYSTEM_REASONS, code) ? SYSTEM_REASONS[code] : undefined;
  if (system !== undefined) {
    return new StorageError('unavailable', file, `${file} cannot be opened: ${system}`, { cause: thrown });
  }
  return new StorageError('failed', file, `${file}: ${String(message ?? thrown)}`, { cause: thrown });
}
