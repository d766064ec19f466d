/**
 * Databases with synchronous calls, for stores whose calls return after the commit. The process waits while a thread of its own talks to the
 * server, so that each round trip blocks the event loop.
 *
 * Each transaction writes its number to the row of this client. If the connection is lost during a commit, the row tells the outcome: reading
 * it with a lock waits for the end of the transaction.
 */
import { randomUUID } from 'node:crypto';
import { assertDurations } from '../../async/durations.js';
import { backoff } from '../../async/timers.js';
import { StoreError } from '../../text/store-error.js';
import type { Database, Row, SqlValue, Statement } from '../database.js';
import { openClient, type PostgresOptions, quoteSchema, serverTimeouts } from './client.js';
import { isContention, isNotSent, postgresError } from './errors.js';
import { migrateSchema, type PostgresFormat } from './migrate.js';
import { cloneable, findDriver, SyncCaller, sleep } from './sync-caller.js';
import type { SyncRequest, SyncStatement } from './sync-worker.js';
import { decodeText, encodeText } from './text.js';

/** Options of every store in PostgreSQL whose calls are synchronous. */
export interface SyncPostgresOptions extends Pick<PostgresOptions, 'schema' | 'tls'> {
  /**
   * Milliseconds after which an unanswered call fails, and its connection is replaced. If the connection is lost during a commit, its outcome
   * is looked up for the same time. Half of it is the longest time to wait for a lock.
   * @default 10000
   */
  readonly timeoutMs?: number | undefined;
  /** The package that connects. @default `postgres`, or `pg` if only that is installed */
  readonly driver?: 'postgres' | 'pg' | undefined;
}

/** Options of {@link openSyncDatabase}. */
interface OpenOptions extends SyncPostgresOptions {
  readonly format: PostgresFormat;
  /** If true, transactions of all processes run one after another, as in a SQLite file. Otherwise, they must lock the rows that they read. */
  readonly isExclusive?: boolean | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const RETRY = { minDelayMs: 5, maxDelayMs: 200 };
/** The maximum number of times that a lost connection is replaced during one call. */
const MAX_LOSSES = 3;
/** The maximum number of milliseconds that closing waits for the server. */
const CLOSING_MS = 1000;
/** The first number of the locks of exclusive transactions. */
const LOCK = 0x50_45_47;

/** Returns the SQL of the table with the outcomes of commits, for the first migration of a format. @param schema the quoted name */
export function commitTable(schema: string, prefix: string): string {
  return `CREATE TABLE ${schema}.${prefix}_commit (
    -- An open database of a process.
    client text PRIMARY KEY,
    -- The number of its last transaction.
    number bigint NOT NULL,
    at timestamptz NOT NULL
  ) WITH (fillfactor = 50);`;
}

/**
 * Opens a database after migrating its schema.
 *
 * @throws StoreError if the database cannot be reached or has data of a later version; `no-driver` if no driver is installed
 * @throws TypeError if an argument is invalid
 */
export async function openSyncDatabase(url: string, options: OpenOptions): Promise<Database> {
  const { schema = 'pegwire', timeoutMs = DEFAULT_TIMEOUT_MS, tls, driver, format, isExclusive = false } = options;
  const name = quoteSchema(schema);
  assertDurations({ timeoutMs });
  if (typeof url !== 'string')
    throw new TypeError('The connection must be a URL such as postgres://user@host/database');
  if (driver !== undefined && driver !== 'postgres' && driver !== 'pg')
    throw new TypeError(`driver must be "postgres" or "pg"; got ${JSON.stringify(driver)}`);
  const setup = { ...findDriver(driver), url, tls: cloneable(tls) };
  const client = await openClient(url, { max: 1, timeoutMs, tls });
  try {
    await migrateSchema(client, name, format);
  } catch (thrown) {
    throw postgresError(thrown);
  } finally {
    await client.close();
  }
  const { statement_timeout, lock_timeout } = serverTimeouts(timeoutMs);
  const settings = {
    lock_timeout: String(lock_timeout),
    statement_timeout: String(statement_timeout),
    // Ends transactions whose client is not heard of any more, which would keep their locks.
    idle_in_transaction_session_timeout: String(statement_timeout),
    // Only transactions know whether they were committed.
    default_transaction_read_only: 'on',
  };
  const caller = new SyncCaller({ ...setup, settings, connectTimeoutMs: Math.min(5000, timeoutMs) });
  const lock = isExclusive
    ? [{ sql: `SELECT pg_advisory_xact_lock(${LOCK}, hashtext($1))`, values: [`${name}.${format.prefix}`] }]
    : [];
  const database = new SyncDatabase({ caller, timeoutMs, lock, commits: `${name}.${format.prefix}_commit` });
  try {
    database.register();
  } catch (thrown) {
    caller.close();
    throw thrown;
  }
  return database;
}

interface DatabaseParts {
  readonly caller: SyncCaller;
  readonly timeoutMs: number;
  /** The statements that begin a transaction. */
  readonly lock: readonly SyncStatement[];
  /** The table of commits. */
  readonly commits: string;
}

interface Transaction {
  /** Statements without rows, which are sent with the next one that has rows. */
  pending: SyncStatement[];
  readonly deadline: number;
  isSent: boolean;
  /** The error of the database, if there was one. */
  failure: Failure | undefined;
}

interface Failure {
  readonly error: StoreError;
  readonly step: 'connect' | 'statements' | 'commit';
  readonly isLost: boolean;
  /** `true` if the deadline has passed. */
  readonly isLate: boolean;
}

const BEGIN: SyncStatement = { sql: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', values: [] };
const ROLLBACK: SyncStatement = { sql: 'ROLLBACK', values: [] };

class SyncDatabase implements Database {
  readonly #parts: DatabaseParts;
  readonly #client = randomUUID();
  #number = 0;
  #transaction: Transaction | undefined;

  constructor(parts: DatabaseParts) {
    this.#parts = parts;
  }

  /** Inserts the row of this client, and removes those that processes left behind a month ago. */
  register(): void {
    const { commits } = this.#parts;
    this.transaction(() =>
      this.#add({ sql: `DELETE FROM ${commits} WHERE at < now() - interval '30 days'`, values: [] }),
    );
  }

  readonly exec = (sql: string): void => this.#run({ sql, values: [] });

  readonly prepare = (text: string): Statement => {
    let count = 0;
    const sql = text.replace(/\?(\d*)/g, (_, number: string) => `$${number === '' ? ++count : number}`);
    const of = (values: readonly SqlValue[]): SyncStatement => ({ sql, values: values.map(parameterOf) });
    return {
      run: (...values) => this.#run(of(values)),
      get: (...values) => this.#rows(of(values))[0],
      all: (...values) => this.#rows(of(values)),
      iterate: (...values) => this.#rows(of(values)),
    };
  };

  /** Runs the function again after a conflict with another transaction, and after the loss of a connection before the commit. */
  readonly transaction = <T>(work: () => T): T => {
    if (this.#transaction !== undefined) throw new Error('transactions cannot be nested');
    const deadline = this.#deadline();
    for (let failures = 0, losses = 0; ; ) {
      const transaction: Transaction = {
        ...{ pending: [BEGIN, ...this.#parts.lock], deadline, isSent: false },
        failure: undefined,
      };
      this.#transaction = transaction;
      try {
        const result = work();
        this.#commit(transaction);
        return result;
      } catch (thrown) {
        const { failure } = transaction;
        if (failure === undefined || thrown !== failure.error) {
          this.#rollBack(transaction);
          throw thrown;
        }
        if (!failure.isLost && failure.step !== 'commit') this.#rollBack(transaction);
        const isRepeated = failure.isLost
          ? !isNotSent(failure.error) && ++losses <= MAX_LOSSES
          : isConflict(failure.error);
        const delayMs = backoff(++failures, RETRY);
        if (failure.isLate || !isRepeated || performance.now() + delayMs >= deadline) throw thrown;
        sleep(delayMs);
      } finally {
        this.#transaction = undefined;
      }
    }
  };

  readonly close = (): void => {
    const { caller, commits } = this.#parts;
    // If it fails, another client removes the row later.
    const remove = { sql: `DELETE FROM ${commits} WHERE client = $1`, values: [this.#client] };
    const deadline = Math.min(this.#deadline(), performance.now() + CLOSING_MS);
    caller.call({ statements: [BEGIN, remove], commits: true, continues: false }, deadline);
    caller.close();
  };

  #run(statement: SyncStatement): void {
    if (this.#transaction === undefined) this.transaction(() => this.#add(statement));
    else this.#add(statement);
  }

  #add(statement: SyncStatement): void {
    this.#transaction!.pending.push(statement);
  }

  #rows(statement: SyncStatement): readonly Row[] {
    const transaction = this.#transaction;
    if (transaction !== undefined) return this.#send(transaction, statement);
    const deadline = this.#deadline();
    // A read, which can be repeated.
    for (let losses = 0; ; ) {
      const answer = this.#call({ statements: [statement], commits: false, continues: false }, deadline);
      if (!('error' in answer)) return answer;
      if (!answer.isLost || answer.isLate || isNotSent(answer.error) || ++losses > MAX_LOSSES) throw answer.error;
    }
  }

  /** Sends the pending statements of a transaction, and one more. */
  #send(transaction: Transaction, statement: SyncStatement, commits = false): readonly Row[] {
    const continues = transaction.isSent;
    const statements = [...transaction.pending, statement];
    transaction.pending = [];
    transaction.isSent = true;
    const answer = this.#call({ statements, commits, continues }, transaction.deadline);
    if (!('error' in answer)) return answer;
    transaction.failure = answer;
    throw answer.error;
  }

  #commit(transaction: Transaction): void {
    const { lock, commits } = this.#parts;
    if (!transaction.isSent && transaction.pending.length === 1 + lock.length) return;
    const number = ++this.#number;
    const sql = `INSERT INTO ${commits} AS known VALUES ($1, $2, now())
      ON CONFLICT (client) DO UPDATE SET number = excluded.number, at = excluded.at`;
    try {
      this.#send(transaction, { sql, values: [this.#client, number] }, true);
    } catch (thrown) {
      const { failure } = transaction;
      // Until the commit was sent, nothing can have been stored.
      const isUnknown = failure?.isLate === true || (failure?.step === 'commit' && failure.isLost);
      if (!isUnknown || !this.#isCommitted(number, failure!.error)) throw thrown;
    }
  }

  /** Returns whether a transaction was committed. @throws StoreError `outcome-unknown` if that cannot be read in time */
  #isCommitted(number: number, cause: StoreError): boolean {
    const deadline = this.#deadline();
    const { commits } = this.#parts;
    // The lock waits for the end of a transaction that the server still executes.
    const read = { sql: `SELECT number FROM ${commits} WHERE client = $1 FOR UPDATE`, values: [this.#client] };
    for (let failures = 0; ; ) {
      const answer = this.#call({ statements: [BEGIN, read], commits: false, continues: false }, deadline);
      if (!('error' in answer)) {
        this.#call({ statements: [ROLLBACK], commits: false, continues: true }, deadline);
        // Without a row, another client has removed it, or this was the first commit.
        if (answer.length > 0 || number === 1) return answer[0]?.['number'] === number;
      }
      const delayMs = backoff(++failures, RETRY);
      if (('error' in answer && answer.isLate) || performance.now() + delayMs >= deadline)
        throw new StoreError(
          'outcome-unknown',
          'The connection was lost during a commit, and the database cannot be reached to look up its outcome',
          { cause },
        );
      if ('error' in answer && !answer.isLost)
        this.#call({ statements: [ROLLBACK], commits: false, continues: true }, deadline);
      sleep(delayMs);
    }
  }

  #rollBack(transaction: Transaction): void {
    if (!transaction.isSent || transaction.failure?.isLost === true) return;
    const request = { statements: [ROLLBACK], commits: false, continues: true };
    const answer = this.#call(request, Math.max(transaction.deadline, performance.now() + 1000));
    // Without its connection, the transaction ends, too.
    if ('error' in answer) this.#parts.caller.close();
  }

  #call(request: SyncRequest, deadline: number): readonly Row[] | Failure {
    const answer = this.#parts.caller.call(request, deadline);
    if (answer === undefined) {
      const message = `The database did not answer within ${this.#parts.timeoutMs} ms`;
      return { error: new StoreError('unavailable', message), step: 'statements', isLost: true, isLate: true };
    }
    if ('rows' in answer) return answer.rows.map(rowOf);
    const { error, step, isLost } = answer;
    const cause = Object.assign(new Error(error.message), error.code === undefined ? {} : { code: error.code });
    const failure = isLost && error.code === undefined && step !== 'connect' ? lost(cause) : postgresError(cause);
    return { error: failure, step, isLost, isLate: false };
  }

  #deadline(): number {
    return performance.now() + this.#parts.timeoutMs;
  }
}

function lost(cause: Error): StoreError {
  return new StoreError('unavailable', 'The connection to the database was lost', { cause });
}

function isConflict(error: StoreError): boolean {
  // A lock that was waited for in vain is not waited for again.
  return isContention(error) && (error.cause as { readonly code?: unknown }).code !== '55P03';
}

function parameterOf(value: SqlValue): SqlValue {
  if (typeof value === 'string') return encodeText(value);
  const isValid = value === null || ['number', 'bigint'].includes(typeof value) || value instanceof Uint8Array;
  if (!isValid)
    throw new StoreError('failed', `A parameter of a statement must be a value of SQL; got ${typeof value}`);
  return value;
}

function rowOf(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? decodeText(value) : value]),
  );
}
