/** The thread that has the connection of a synchronous database. */
import type { MessagePort } from 'node:worker_threads';
import type { Row, SqlValue } from '../database.js';

/** The settings of the thread. */
export interface WorkerSetup {
  readonly driver: 'postgres' | 'pg';
  /** The file of the package. */
  readonly file: string;
  readonly url: string;
  readonly tls: boolean | object | undefined;
  readonly connectTimeoutMs: number;
  /** The settings of each connection, by name. */
  readonly settings: Readonly<Record<string, string>>;
  readonly port: MessagePort;
  /** One integer, which increases with each answer. */
  readonly signal: Int32Array;
}

/** A statement with the values of `$1`, `$2`, ... */
export interface SyncStatement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Statements that run in order on one connection. Later ones do not take effect if an earlier one fails. */
export interface SyncRequest {
  readonly statements: readonly SyncStatement[];
  /** If true, the transaction is committed after all statements have succeeded. */
  readonly commits: boolean;
  /** If true, the statements continue a transaction, so that a lost connection must not be replaced. */
  readonly continues: boolean;
}

/** The answer to a request: the rows of the last statement, or an error. */
export type SyncAnswer =
  | { readonly rows: readonly Row[] }
  | {
      readonly error: { readonly message: string; readonly code: string | undefined };
      /** The step that failed. */
      readonly step: 'connect' | 'statements' | 'commit';
      /** `true` if the connection is lost, and with it the transaction. */
      readonly isLost: boolean;
    };

/**
 * Answers requests until the thread ends. The text of this function is the program of the thread, so that it needs no file, which bundlers would
 * leave behind. It can therefore use nothing outside of itself but types.
 */
export function answerRequests(require: NodeJS.Require): void {
  interface Connection {
    readonly run: (statements: readonly SyncStatement[]) => Promise<readonly Row[]>;
    isLost: boolean;
    readonly end: () => void;
  }
  interface Result {
    readonly rows: readonly Readonly<Record<string, unknown>>[];
    readonly bigints: readonly string[];
  }

  const { workerData } = require('node:worker_threads') as { readonly workerData: WorkerSetup };
  const { driver, file, url, tls, connectTimeoutMs, settings, port, signal } = workerData;
  const BIGINT = 20;
  let current: Connection | undefined;

  /** Converts values as SQLite has them: integers where a driver returns text or a boolean. */
  function rowsOf({ rows, bigints }: Result): readonly Row[] {
    return rows.map((row) => {
      const converted: Record<string, SqlValue> = {};
      for (const [name, value] of Object.entries(row)) {
        if (typeof value === 'boolean') converted[name] = value ? 1 : 0;
        else if (value !== null && bigints.includes(name)) {
          const number = Number(value);
          converted[name] = Number.isSafeInteger(number) ? number : BigInt(value as string);
        } else converted[name] = value as SqlValue;
      }
      return converted;
    });
  }

  function withPostgres(): Connection {
    const postgres = require(file) as (
      url: string,
      options: object,
    ) => {
      readonly unsafe: (sql: string, values: readonly SqlValue[], options: object) => PromiseLike<unknown>;
      readonly end: (options: object) => Promise<void>;
    };
    const sql = postgres(url, {
      ...{ max: 1, max_lifetime: null, idle_timeout: 0, fetch_types: false, onnotice: () => undefined },
      // As parameters of the connection, since the package sends what waited to a new connection when one is lost.
      ...{ connection: { application_name: 'pegwire', ...settings }, connect_timeout: connectTimeoutMs / 1000 },
      ...(tls === undefined ? {} : { ssl: tls }),
      onclose: () => {
        connection.isLost = true;
      },
    });
    const connection: Connection = {
      isLost: false,
      run: async (statements) => {
        // Sent without waiting for answers; in a transaction, those after a failed one fail, too.
        const settled = await Promise.allSettled(
          statements.map(({ sql: text, values }) => sql.unsafe(text, values, { prepare: values.length > 0 })),
        );
        for (const result of settled) if (result.status === 'rejected') throw result.reason;
        const last = settled.at(-1) as PromiseFulfilledResult<
          Result['rows'] & { readonly columns?: readonly { readonly name: string; readonly type: number }[] }
        >;
        const bigints = (last.value.columns ?? []).filter(({ type }) => type === BIGINT).map(({ name }) => name);
        return rowsOf({ rows: last.value, bigints });
      },
      end: () => void sql.end({ timeout: 0 }).catch(() => undefined),
    };
    return connection;
  }

  async function withPg(): Promise<Connection> {
    const { Client } = require(file) as {
      readonly Client: new (
        options: object,
      ) => {
        readonly connect: () => Promise<unknown>;
        readonly query: (query: object) => Promise<{
          readonly rows: Result['rows'];
          readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
        }>;
        readonly end: () => Promise<void>;
        readonly on: (event: 'error' | 'end', listener: () => void) => unknown;
      };
    };
    const client = new Client({
      ...{ connectionString: url, application_name: 'pegwire', keepAlive: true },
      ...{ connectionTimeoutMillis: connectTimeoutMs, ...(tls === undefined ? {} : { ssl: tls }) },
    });
    const names = new Map<string, string>();
    const connection: Connection = {
      isLost: false,
      run: async (statements) => {
        let rows: readonly Row[] = [];
        for (const { sql: text, values } of statements) {
          if (!names.has(text)) names.set(text, `pegwire_${names.size + 1}`);
          const query = values.length === 0 ? { text } : { name: names.get(text), text, values };
          const result = await client.query(query);
          const bigints = (result.fields ?? []).filter(({ dataTypeID }) => dataTypeID === BIGINT);
          rows = rowsOf({ rows: result.rows ?? [], bigints: bigints.map(({ name }) => name) });
        }
        return rows;
      },
      end: () => void client.end().catch(() => undefined),
    };
    const lose = (): void => {
      connection.isLost = true;
    };
    client.on('error', lose);
    client.on('end', lose);
    await client.connect();
    const sets = Object.entries(settings).map(([name, value]) => `SET ${name} = ${value}`);
    await client.query({ text: sets.join('; ') });
    return connection;
  }

  /** Runs statements, unless the package has silently replaced the connection. */
  async function runOn(connection: Connection, statements: readonly SyncStatement[]): Promise<readonly Row[]> {
    const rows = await connection.run(statements);
    if (connection.isLost) throw new Error('The connection was lost');
    return rows;
  }

  function discard(): void {
    current?.end();
    current = undefined;
  }

  async function answer({ statements, commits, continues }: SyncRequest): Promise<SyncAnswer> {
    let step: 'connect' | 'statements' | 'commit' = continues ? 'statements' : 'connect';
    try {
      if (current?.isLost === true) discard();
      if (current === undefined && continues) throw new Error('The connection was lost');
      if (current === undefined) {
        current = driver === 'postgres' ? withPostgres() : await withPg();
        await current.run([{ sql: 'SELECT 1', values: [] }]);
      }
      step = 'statements';
      const rows = await runOn(current, statements);
      // Sent only now: a commit after a failed statement could store a part.
      step = 'commit';
      if (commits) await runOn(current, [{ sql: 'COMMIT', values: [] }]);
      return { rows };
    } catch (thrown) {
      const { message, code, errors } = thrown as Error & {
        readonly code?: string;
        readonly errors?: readonly { readonly code?: string }[];
      };
      const known = code ?? errors?.[0]?.code;
      // The drivers report some lost connections without a code. After the others, the server closes the connection.
      const isFatal = known === undefined || /^(57P|08|25P03)/.test(known);
      const isLost = step === 'connect' || current === undefined || current.isLost || isFatal || isNetwork(known);
      if (isLost) discard();
      return { error: { message: String(message), code: known }, step, isLost };
    }
  }

  function isNetwork(code: string | undefined): boolean {
    return code !== undefined && /^(E[A-Z]{3,}|CONNECTION_|CONNECT_TIMEOUT)/.test(code);
  }

  function reply(message: SyncAnswer): void {
    port.postMessage(message);
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  }

  port.on('message', (request: SyncRequest) => {
    void answer(request).then(reply, (thrown: unknown) =>
      reply({ error: { message: String(thrown), code: undefined }, step: 'commit', isLost: true }),
    );
  });
}
