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
  /** Runs a function with the database locked for writing, and rolls back if it throws. Not to be nested. */
  readonly transaction: <T>(work: () => T) => T;
  readonly close: () => void;
}

/**
 * Opens an existing file; throws errors of its own. With `immutable`, opens it for reading as a file that nothing writes,
 * as SQLite requires where no log can be made; drivers may ignore it.
 */
export type Driver = (file: string, immutable?: boolean) => Database;
