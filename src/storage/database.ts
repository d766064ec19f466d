/** The interface of database drivers. All calls are synchronous. */

/** A value of a column or parameter. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** One row, with values by column name. Drivers may add members of their own. */
export type Row = Readonly<Record<string, SqlValue>>;

/** A prepared statement. Parameters replace its question marks, in order. */
export interface Statement {
  /** Runs a statement that returns no rows. */
  readonly run: (...parameters: SqlValue[]) => void;
  /** Returns the first row, or `undefined`. */
  readonly get: (...parameters: SqlValue[]) => Row | undefined;
  /** Returns all rows. */
  readonly all: (...parameters: SqlValue[]) => readonly Row[];
  /** Iterates over the rows. The statement must not be used again before the iteration ends. */
  readonly iterate: (...parameters: SqlValue[]) => Iterable<Row>;
}

/** An open database, whichever driver runs it. */
export interface Database {
  /** Runs statements, separated by semicolons, and discards their rows. */
  readonly exec: (sql: string) => void;
  /** Prepares one statement. */
  readonly prepare: (sql: string) => Statement;
  /**
   * Runs a function in a write transaction, and rolls back if it throws. Transactions cannot be nested. PostgreSQL reports errors of statements
   * without rows at the next statement with rows or at the end, and may run the function again after the transaction was rolled back.
   */
  readonly transaction: <T>(work: () => T) => T;
  /** Closes the database. */
  readonly close: () => void;
}

/**
 * A function that opens an existing file, and may throw errors of its own. With `immutable`, it opens the file for reading as one that nothing
 * writes, which SQLite requires in folders that are not writable; drivers may ignore it.
 */
export type Driver = (file: string, immutable?: boolean) => Database;
