/** The interface of PostgreSQL clients, whichever driver runs them. */

/** A parameter of a statement. Lists are passed as JSON text or array literals, since the drivers treat arrays differently. */
export type SqlParameter = string | number | null;

/** A row, with values by column name. */
export type SqlRow = Readonly<Record<string, string | number | boolean | null>>;

/** A PostgreSQL client with a pool of connections. */
export interface SqlClient {
  /** Runs a statement with parameters `$1`, `$2`, ... on any connection, as a transaction of its own. */
  readonly query: (sql: string, parameters?: readonly SqlParameter[]) => Promise<readonly SqlRow[]>;
  /**
   * Listens on a channel with a connection of its own, which is replaced when it is lost.
   *
   * @param onListening called each time that the listening begins; notifications before were lost
   * @returns a function that ends the listening
   */
  readonly listen: (
    channel: string,
    onNotification: (payload: string) => void,
    onListening: () => void,
  ) => Promise<() => Promise<void>>;
  /** Closes all connections. */
  readonly close: () => Promise<void>;
}
