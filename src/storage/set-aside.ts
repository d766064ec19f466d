/** Damaged files are renamed, never overwritten. */
import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import type { StoreError } from '../text/store-error.js';
import type { Format } from './migrate.js';
import { identityOf } from './place.js';

const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');

/** Bytes of a database header, and the offset of the application id. */
const HEADER = 100;
const APPLICATION_ID = 68;

/** Bytes that are searched for the mark: the schema is at the end of the first page. */
const SEARCHED = 64 * 1024;

/** The log and its index. They move first: a log left behind would be read into a new file. */
const COMPANIONS = ['-wal', '-shm'];

/** Evidence that a file is ours. */
export interface Origin {
  readonly format: Format;
  /** A text that only the schema of this format holds. */
  readonly mark: string;
  /** The file is in our own folder, so it is ours whatever it holds. */
  readonly isInPlace: boolean;
}

/**
 * Returns whether a file that failed to open is a damaged one of this format, by its place, head or schema, or torn too
 * early to tell.
 */
export function isDamagedOwn(error: StoreError, file: string, origin: Origin): boolean {
  try {
    // A sound database of another program is not read: closing it would release its locks in this process.
    const isUnreadable = error.cause !== undefined || statSync(file).size < HEADER;
    if (error.reason !== 'corrupt' && !(error.reason === 'foreign' && isUnreadable)) return false;
    return origin.isInPlace || isRemnant(headOf(file), origin);
  } catch {
    return false;
  }
}

function isRemnant(head: Buffer, { format, mark }: Origin): boolean {
  const begun = Math.min(head.length, MAGIC.length);
  const isTorn = head.length < HEADER && head.subarray(0, begun).equals(MAGIC.subarray(0, begun));
  if (isTorn || head.every((byte) => byte === 0) || head.includes(mark)) return true;
  return head.length >= HEADER && head.readInt32BE(APPLICATION_ID) === format.applicationId;
}

function headOf(file: string): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const head = Buffer.alloc(SEARCHED);
    return head.subarray(0, readSync(descriptor, head, 0, SEARCHED, 0));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Renames a damaged file and its log to `FILE.corrupt-TIME`. Returns the new name; `null` if the file with `identity`
 * is gone. `now` is milliseconds since 1970.
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

/** Two files may be damaged in one millisecond. */
function freeName(name: string): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (!existsSync(free)) return free;
  }
}
