/** Renaming of damaged files, which are never overwritten. */
import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import type { StoreError } from '../text/store-error.js';
import type { Format } from './migrate.js';
import { identityOf } from './paths.js';

const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');

/** The length of the header of a database file in bytes, and the offset of the application identifier. */
const HEADER_BYTES = 100;
const APPLICATION_ID = 68;

/** The number of bytes that are searched for the mark: the schema is at the end of the first page. */
const SEARCHED_BYTES = 64 * 1024;

/** The suffixes of the log and its index. They are renamed first: a log that is left behind would be applied to a new file. */
const COMPANIONS = ['-wal', '-shm'];

/** Evidence that a file has a given format. */
export interface Origin {
  /** The format. */
  readonly format: Format;
  /** A text that only the schema of this format contains. */
  readonly mark: string;
  /** `true` if the file is in the data folder, so it has this format whatever it contains. */
  readonly isInPlace: boolean;
}

/**
 * Returns whether a file that cannot be opened is a damaged file of this format, by its folder, header or schema, or is too short to
 * decide.
 */
export function isDamagedOwn(error: StoreError, file: string, origin: Origin): boolean {
  try {
    // An intact database of another program is not read: closing it would release its locks in this process.
    const isUnreadable = error.cause !== undefined || statSync(file).size < HEADER_BYTES;
    if (error.reason !== 'corrupt' && !(error.reason === 'foreign' && isUnreadable)) return false;
    return origin.isInPlace || isRemnant(headOf(file), origin);
  } catch {
    return false;
  }
}

function isRemnant(head: Buffer, { format, mark }: Origin): boolean {
  const length = Math.min(head.length, MAGIC.length);
  const isTruncated = head.length < HEADER_BYTES && head.subarray(0, length).equals(MAGIC.subarray(0, length));
  if (isTruncated || head.every((byte) => byte === 0) || head.includes(mark)) return true;
  return head.length >= HEADER_BYTES && head.readInt32BE(APPLICATION_ID) === format.applicationId;
}

function headOf(file: string): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const head = Buffer.alloc(SEARCHED_BYTES);
    return head.subarray(0, readSync(descriptor, head, 0, SEARCHED_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Renames a damaged file and its log to `FILE.corrupt-TIME`.
 *
 * @param now milliseconds since 1970
 * @returns the new name, or `null` if the file no longer has the given identity
 */
export function setAside(file: string, identity: string | null, now: number): string | null {
  const aside = freeName(`${file}.corrupt-${new Date(now).toISOString().replace(/[:.]/g, '')}`);
  if (identity === null || identityOf(file) !== identity) return null;
  const moved: (readonly [from: string, to: string])[] = [];
  try {
    for (const companion of [...COMPANIONS, '']) {
      const [from, to] = [file + companion, aside + companion] as const;
      if (!existsSync(from)) continue;
      renameSync(from, to);
      moved.push([from, to]);
    }
  } catch (thrown) {
    for (const [from, to] of moved) renameSync(to, from);
    throw thrown;
  }
  return aside;
}

/** Returns a name that does not exist: two files may be renamed in the same millisecond. */
function freeName(name: string): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (!existsSync(free)) return free;
  }
}
