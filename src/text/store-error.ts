import { type ErrorJson, PegwireError } from './errors.js';

/**
 * - `taken`: another holder has claimed what this one held.
 * - `closed`: the store was used after its end.
 * - `busy`: another process kept it locked for longer than the time-out; the same may succeed later.
 * - `full`: there is no room left.
 * - `unavailable`: it cannot be opened, read or written.
 * - `foreign`: the file is no database, or another program's.
 * - `newer`: a later version of pegwire wrote it.
 * - `corrupt`: it is damaged.
 * - `misconfigured`: a setting names no place for it.
 * - `no-driver`: this version of Node has no SQLite driver, and none is installed.
 * - `failed`: any other error; see `cause`.
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
  | 'failed';

/** A store failed; nothing of what was asked for was done, and a file is left as it was. */
export class StoreError extends PegwireError {
  override readonly name: string = 'StoreError';
  declare readonly code: `store-${StoreReason}`;
  readonly reason: StoreReason;
  /** The file of the store, where it has one and the error is about it. */
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
