import { StoreError, type StoreReason } from '../text/store-error.js';
import { systemReason } from '../text/system-reason.js';

/** Result codes of SQLite: number, name and message; then our reason and message. */
const CODES = [
  [5, 'SQLITE_BUSY', 'database is locked', 'busy', 'is locked by another process'],
  [6, 'SQLITE_LOCKED', 'database table is locked', 'busy', 'is locked by another statement'],
  [8, 'SQLITE_READONLY', 'attempt to write a readonly database', 'unavailable', 'cannot be written'],
  [10, 'SQLITE_IOERR', 'disk I/O error', 'unavailable', 'cannot be read or written'],
  [11, 'SQLITE_CORRUPT', 'database disk image is malformed', 'corrupt', 'is damaged'],
  [13, 'SQLITE_FULL', 'database or disk is full', 'full', 'cannot grow: the disk is full'],
  [14, 'SQLITE_CANTOPEN', 'unable to open database file', 'unavailable', 'cannot be opened'],
  [26, 'SQLITE_NOTADB', 'file is not a database', 'foreign', 'is not a database; it was not changed'],
] as const satisfies readonly (readonly [number, string, string, StoreReason, string])[];

/** Converts an error of a driver or the file system. */
export function storeError(thrown: unknown, file: string): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const { code, errno, errcode, message } = thrown as Readonly<Record<string, unknown>>;
  // `node:sqlite` reports the extended number, better-sqlite3 the extended name (SQLITE_IOERR_WRITE). `@photostructure/sqlite` reports
  // neither if a statement that returns rows fails.
  const known = CODES.find(([number, name, text]) => {
    if (typeof errcode === 'number') return (errcode & 0xff) === number;
    return `${String(code)}_`.startsWith(`${name}_`) || (code === 'ERR_SQLITE_ERROR' && message === text);
  });
  if (known !== undefined) return new StoreError(known[3], `${file} ${known[4]}`, { file, cause: thrown });
  if (typeof errno === 'number') {
    const reason = systemReason(thrown, 'there is no such folder');
    return new StoreError('unavailable', `${file} cannot be opened: ${reason}`, { file, cause: thrown });
  }
  return new StoreError('failed', `${file}: ${String(message ?? thrown)}`, { file, cause: thrown });
}
