/** Adapters for the packages `postgres` and `pg`. The types are the parts that we use, so that neither package is needed to compile. */
import { createHash } from 'node:crypto';
import type { SqlClient, SqlParameter, SqlRow } from './sql.js';

/** A client of the package `postgres`: `postgres(url)`. */
export interface PostgresJs {
  /** Runs a statement with parameters. */
  readonly unsafe: (sql: string, parameters?: never[], options?: { readonly prepare: boolean }) => PromiseLike<unknown>;
  /** Listens on a channel. */
  readonly listen: (
    channel: string,
    onNotification: (payload: string) => void,
    onListening?: () => void,
  ) => Promise<{ readonly unlisten: () => Promise<void> }>;
  /** Closes all connections. */
  readonly end: (options?: { readonly timeout?: number }) => Promise<void>;
  // A client is a function.
  (...parts: never[]): unknown;
}

/** A pool of the package `pg`: `new Pool(...)`. */
export interface NodePostgresPool {
  /** Runs a statement with parameters. */
  readonly query: (statement: NodePostgresStatement) => Promise<{ readonly rows: readonly unknown[] }>;
  /** Reserves a connection. */
  readonly connect: () => Promise<NodePostgresConnection>;
  /** Closes all connections. */
  readonly end: () => Promise<void>;
  /** Adds a listener. */
  readonly on: (event: 'error', listener: (error: Error) => void) => unknown;
}

/** A statement with parameters. One with a name is prepared once for each connection. */
export interface NodePostgresStatement {
  /** The name. */
  readonly name?: string;
  /** The text of the statement. */
  readonly text: string;
  /** The values of its parameters. */
  readonly values: unknown[];
}

/** A reserved connection of the package `pg`. */
export interface NodePostgresConnection {
  /** Runs a statement. */
  readonly query: (sql: string) => Promise<unknown>;
  /** Adds a listener of errors, of notifications, or of the end of the connection. */
  readonly on: (event: 'error' | 'notification' | 'end', listener: (...values: never[]) => void) => unknown;
  /** Returns the connection to the pool. @param destroy if true, closes it */
  readonly release: (destroy?: boolean) => void;
}

/** Statements with parameters are few, and are prepared, so that the server does not parse and plan them each time. */
function isPrepared(parameters: readonly SqlParameter[]): boolean {
  return parameters.length > 0;
}

/** The name is the same for the same text in any process, since others may use the connection. */
function statementName(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    name = `pegwire_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
    statementNames.set(text, name);
  }
  return name;
}

const statementNames = new Map<string, string>();

/** Adapts a client of the package `postgres`. */
export function postgresJs(sql: PostgresJs, close: () => Promise<void>): SqlClient {
  return {
    query: async (text, parameters = []) => {
      const prepare = isPrepared(parameters);
      return (await sql.unsafe(text, [...parameters] as never[], { prepare })) as readonly SqlRow[];
    },
    listen: async (channel, onNotification, onListening) => {
      const { unlisten } = await sql.listen(channel, onNotification, onListening);
      return unlisten;
    },
    close,
  };
}

/** Milliseconds before a lost connection is replaced. */
const RETRY_MS = 500;

/** Adapts a pool of the package `pg`. */
export function nodePostgres(pool: NodePostgresPool, close: () => Promise<void>): SqlClient {
  // Without a listener, the loss of an idle connection ends the process.
  pool.on('error', () => undefined);
  return {
    query: async (text, parameters = []) => {
      const name = isPrepared(parameters) ? { name: statementName(text) } : {};
      return (await pool.query({ ...name, text, values: [...parameters] })).rows as readonly SqlRow[];
    },
    listen: async (channel, onNotification, onListening) => {
      let isOver = false;
      let current: NodePostgresConnection | undefined;
      const lost = (connection: NodePostgresConnection): void => {
        if (current !== connection) return;
        current = undefined;
        connection.release(true);
        if (!isOver) setTimeout(() => void listen().catch(retry), RETRY_MS);
      };
      const retry = (): void => {
        if (!isOver) setTimeout(() => void listen().catch(retry), RETRY_MS);
      };
      const listen = async (): Promise<void> => {
        if (isOver) return;
        const connection = await pool.connect();
        current = connection;
        connection.on('error', () => lost(connection));
        connection.on('end', () => lost(connection));
        connection.on('notification', ({ payload }: { readonly payload?: string }) => onNotification(payload ?? ''));
        try {
          await connection.query(`LISTEN "${channel}"`);
        } catch (error) {
          current = undefined;
          connection.release(true);
          throw error;
        }
        if (isOver) lost(connection);
        else onListening();
      };
      await listen();
      return async () => {
        isOver = true;
        if (current !== undefined) lost(current);
      };
    },
    close,
  };
}
