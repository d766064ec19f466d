/** A database, whichever driver is behind it. All calls are synchronous. */

export type SqlValue = null | number | bigint | string | Uint8Array;

/** One row by the names of its columns. Drivers may add members of their own. */
export type Row = Readonly<Record<string, SqlValue>>;

/** A statement that was prepared once. Parameters stand for its question marks, in order. */
export interface Statement {
  /** For statements that return no rows. */
  readonly run: (...parameters: SqlValue[]) => void;
  /** The first row. */
  readonly get: (...parameters: SqlValue[]) => Row | undefined;
  readonly all: (...parameters: SqlValue[]) => readonly Row[];
  /** Row by row. Until it has ended, the statement must not be used again. */
  readonly iterate: (...parameters: SqlValue[]) => Iterable<Row>;
}

export interface Database {
  /** Runs statements that return no rows of interest, separated by semicolons. */
  readonly exec: (sql: string) => void;
  readonly prepare: (sql: string) => Statement;
  /**
   * Runs a function with the database locked for writing; all it has written is kept when it returns, and nothing when
   * it throws. Not to be nested.
   */
  readonly transaction: <T>(work: () => T) => T;
  readonly close: () => void;
}

/**
 * Opens a file, which exists. Errors are the driver's own; `storageError` makes them alike.
 *
 * @param immutable opens it for reading only, and takes it that nobody writes it: without that, SQLite cannot read a file where
 *   no log can be made. A driver that cannot do that opens it as usual
 */
export type Driver = (file: string, immutable?: boolean) => Database;
