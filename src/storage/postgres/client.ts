/** Opening of PostgreSQL clients. */
import { assertDurations } from '../../async/durations.js';
import { StoreError } from '../../text/store-error.js';
import { type NodePostgresPool, nodePostgres, type PostgresJs, postgresJs } from './drivers.js';
import { postgresError } from './errors.js';
import type { SqlClient } from './sql.js';

/** A client of one of the packages `postgres` and `pg`, or one of your own. */
export type PostgresClient = PostgresJs | NodePostgresPool | SqlClient;

/** Options of every store in a PostgreSQL database. */
export interface PostgresOptions {
  /** The schema of the tables, which is created if it does not exist. @default 'pegwire' */
  readonly schema?: string | undefined;
  /** The maximum number of connections, besides three for leases and notifications; only with a URL. @default 10 */
  readonly maxConnections?: number | undefined;
  /** Milliseconds after which an unanswered statement fails, and its connections are replaced; only with a URL. @default 10000 */
  readonly timeoutMs?: number | undefined;
  /**
   * `true` for TLS with a verified certificate, or options for Node's `tls.connect`, such as `{ ca }`; only with a URL.
   * @default as `sslmode` in the URL says
   */
  readonly tls?: boolean | object | undefined;
}

/** Options of {@link openClient}. */
interface ClientOptions extends Pick<PostgresOptions, 'tls' | 'timeoutMs'> {
  readonly max: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Opens a client for a URL with the package `postgres`, or with `pg` if only that is installed; adapts a client that was passed.
 *
 * @throws StoreError `no-driver` if neither package is installed
 * @throws TypeError if the connection or an option is invalid
 */
export async function openClient(connection: string | PostgresClient, options: ClientOptions): Promise<SqlClient> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  assertDurations({ timeoutMs });
  if (typeof connection !== 'string') return adapt(connection);
  const open = await driverFor(assertUrl(connection), options);
  return new DeadlineClient(open, timeoutMs);
}

/** Returns the name of an object in a schema, quoted. @throws TypeError if the schema is invalid */
export function quoteSchema(schema: string): string {
  // PostgreSQL cuts longer names off. The characters have a meaning in the text of functions.
  if (typeof schema !== 'string' || schema === '' || Buffer.byteLength(schema) > 63 || /[\0'$?\\]/.test(schema))
    throw new TypeError(`schema must be a name of 1 to 63 bytes without ', $, ? and \\; got ${JSON.stringify(schema)}`);
  return `"${schema.replaceAll('"', '""')}"`;
}

/**
 * Returns the settings with which the server ends statements, since it does not notice that a client has gone while one runs or waits for a lock.
 *
 * @param timeoutMs the deadline of the client in milliseconds
 */
export function serverTimeouts(timeoutMs: number): {
  readonly statement_timeout: number;
  readonly lock_timeout: number;
} {
  // 0 stands for no limit.
  const serverMs = timeoutMs === Number.POSITIVE_INFINITY ? 0 : Math.min(Math.ceil(timeoutMs), 2 ** 31 - 1);
  return { statement_timeout: serverMs, lock_timeout: Math.ceil(serverMs / 2) };
}

function adapt(client: PostgresClient): SqlClient {
  if (typeof client === 'function') return postgresJs(client, async () => undefined);
  if ('listen' in client && 'query' in client) return client;
  if ('connect' in client && 'query' in client) return nodePostgres(client, async () => undefined);
  throw new TypeError('The connection must be a postgres:// URL, a client of postgres, or a pool of pg');
}

function assertUrl(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  // The text may hold a password.
  throw new TypeError('The connection must be a URL such as postgres://user@host/database');
}

interface Package {
  readonly default?: unknown;
}

/** Returns a function that opens a client. */
async function driverFor(
  url: string,
  { max, tls, timeoutMs = DEFAULT_TIMEOUT_MS }: ClientOptions,
): Promise<() => SqlClient> {
  const timeouts = serverTimeouts(timeoutMs);
  const module = (await load('postgres')) as { readonly default: PostgresJs['constructor'] } | undefined;
  if (module !== undefined) {
    const create = module.default as unknown as (url: string, options: object) => PostgresJs;
    const options = {
      ...{
        max,
        connection: { application_name: 'pegwire', ...timeouts },
        connect_timeout: 5,
        onnotice: () => undefined,
      },
      ...{ fetch_types: false, backoff: () => 0.2, ...(tls === undefined ? {} : { ssl: tls }) },
    };
    return () => {
      const sql = create(url, options);
      return postgresJs(sql, () => sql.end({ timeout: 0 }));
    };
  }
  const pg = (await load('pg')) as
    | { readonly default: { readonly Pool: new (options: object) => NodePostgresPool } }
    | undefined;
  if (pg === undefined)
    throw new StoreError('no-driver', 'No PostgreSQL driver is installed', { help: 'Run npm install postgres.' });
  const options = {
    // One connection more, which listens.
    ...{
      connectionString: url,
      max: max + 1,
      application_name: 'pegwire',
      connectionTimeoutMillis: 5000,
      keepAlive: true,
    },
    ...timeouts,
    ...(tls === undefined ? {} : { ssl: tls }),
  };
  return () => {
    const pool = new pg.default.Pool(options);
    return nodePostgres(pool, () => pool.end());
  };
}

async function load(name: string): Promise<Package | undefined> {
  try {
    return (await import(name)) as Package;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

interface Listener {
  readonly parameters: Parameters<SqlClient['listen']>;
  stop?: () => Promise<void>;
}

/** The deadline of a statement with long parameters is later, since a slow network takes time for them. */
const SLOWEST_BYTES_PER_MS = 250;
const LISTEN_RETRY_MS = 500;

/** A client whose statements fail after a deadline. It then replaces all its connections, which a broken network may keep open for hours. */
class DeadlineClient implements SqlClient {
  readonly #open: () => SqlClient;
  readonly #timeoutMs: number;
  readonly #listeners = new Set<Listener>();
  #client: SqlClient;
  #isClosed = false;

  constructor(open: () => SqlClient, timeoutMs: number) {
    this.#open = open;
    this.#timeoutMs = timeoutMs;
    this.#client = open();
  }

  readonly query: SqlClient['query'] = async (sql, parameters) => {
    const client = this.#client;
    const length =
      parameters?.reduce<number>((sum, each) => sum + (typeof each === 'string' ? each.length : 0), 0) ?? 0;
    const timeoutMs = this.#timeoutMs + length / SLOWEST_BYTES_PER_MS;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const expired = new Promise<never>((_, reject) => {
      if (timeoutMs === Number.POSITIVE_INFINITY) return;
      timer = setTimeout(() => {
        this.#replace(client);
        reject(new StoreError('unavailable', `The database did not answer within ${Math.ceil(timeoutMs)} ms`));
      }, timeoutMs);
    });
    const answer = client.query(sql, parameters);
    answer.catch(() => undefined);
    try {
      return await Promise.race([answer, expired]);
    } catch (error) {
      throw postgresError(error);
    } finally {
      clearTimeout(timer);
    }
  };

  readonly listen: SqlClient['listen'] = async (...parameters) => {
    const listener: Listener = { parameters };
    this.#listeners.add(listener);
    try {
      await this.#attach(listener, this.#client);
    } catch (error) {
      this.#listeners.delete(listener);
      throw error;
    }
    return async () => {
      this.#listeners.delete(listener);
      await listener.stop?.();
    };
  };

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    await this.#client.close();
  };

  #replace(stuck: SqlClient): void {
    if (this.#client !== stuck || this.#isClosed) return;
    this.#client = this.#open();
    void stuck.close().catch(() => undefined);
    for (const listener of this.#listeners) void this.#listenAgain(listener, this.#client);
  }

  async #listenAgain(listener: Listener, client: SqlClient): Promise<void> {
    while (this.#client === client && !this.#isClosed && this.#listeners.has(listener)) {
      try {
        await this.#attach(listener, client);
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, LISTEN_RETRY_MS));
      }
    }
  }

  async #attach(listener: Listener, client: SqlClient): Promise<void> {
    const stop = await client.listen(...listener.parameters);
    if (this.#client === client && this.#listeners.has(listener)) listener.stop = stop;
    else await stop().catch(() => undefined);
  }
}
