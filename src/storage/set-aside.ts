/** Damaged files are kept under another name: nothing is ever written over them. */
import { closeSync, existsSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import type { StoreError } from '../text/store-error.js';
import type { Format } from './migrate.js';
import { identityOf } from './place.js';

/** How every database begins. */
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');

/** Bytes of its head, and where the application id stands in it. */
const HEADER = 100;
const APPLICATION_ID = 68;

/** How much of a file is searched for the format's mark. The first page holds the schema, at its end. */
const SEARCHED = 64 * 1024;

/** What belongs to a database file: its log, and the log's index. They go first: a log that is left alone would be read into a new file. */
const COMPANIONS = ['-wal', '-shm'];

/** What a file of ours can be told by. */
export interface Origin {
  readonly format: Format;
  /** A text that stands in the schema of the format, and in no other. */
  readonly mark: string;
  /** Whether the file has its place in our own folder, so that it is ours whatever it holds. */
  readonly isInPlace: boolean;
}

/**
 * Whether a file that was not opened is a damaged one of the format: its place, its head or its schema says so, or it is torn so
 * early that it says nothing. Damaged files of others are theirs.
 *
 * @param error why it was not opened
 */
export function isDamagedOwn(error: StoreError, file: string, origin: Origin): boolean {
  try {
    // A sound database of another program is not looked into: where this process has it open, it would lose its locks.
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
 * Renames a damaged file, with its log, to `FILE.corrupt-TIME`, unless somebody has put another one in its place.
 *
 * @param identity of the file that is damaged; see `identityOf`
 * @param now milliseconds since 1970
 * @returns where it is now; `null` when it was not there any more
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

/** Two files may be damaged within one millisecond, by a clock that stands. */
function freeName(name: string): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (!existsSync(free)) return free;
  }
}
