import { type ErrorJson, PegwireError } from './errors.js';

/**
 * The reason why a store failed.
 *
 * - `taken`: another process or session has claimed the endpoint since
 * - `closed`: the store is closed, or its thread has ended
 * - `busy`: another process locked the data for longer than `busyTimeoutMs`; the same call may succeed later
 * - `full`: the disk is full
 * - `unavailable`: the file cannot be opened, read or written, or the database server cannot be reached
 * - `foreign`: the file is not a database, or the data belong to another program
 * - `newer`: a later version of pegwire wrote the data
 * - `corrupt`: the file or the database is damaged
 * - `misconfigured`: an environment variable holds an invalid path
 * - `no-driver`: no driver of the database is installed, and this version of Node has none
 * - `outcome-unknown`: the connection or the thread of the store was lost during a commit, and its outcome could not be looked up
 * - `failed`: any other error; see `cause`
 */
export type StoreReason =
  | 'taken'
  | 'closed'
  | 'busy'
  | 'full'
  | 'unavailable'
  | 'foreign'
  | 'newer'
  | 'corrupt'
  | 'misconfigured'
  | 'no-driver'
  | 'outcome-unknown'
  | 'failed';

/** The error of a store. Unless the reason is `outcome-unknown`, the failed call had no effect, and its file is unchanged. */
export class StoreError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'StoreError';
  /** The reason, prefixed with `store-`. */
  declare readonly code: `store-${StoreReason}`;
  /** The kind of failure, without the prefix of `code`. */
  readonly reason: StoreReason;
  /** The file of the store; `undefined` if the store has no file, or the error is not about it. */
  readonly file: string | undefined;

  constructor(
    reason: StoreReason,
    message: string,
    {
      file,
      help,
      cause,
    }: { readonly file?: string | undefined; readonly help?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super({ code: `store-${reason}`, message, help }, { cause });
    this.reason = reason;
    this.file = file;
  }

  override toJSON(): ErrorJson {
    return { ...super.toJSON(), reason: this.reason };
  }
}
