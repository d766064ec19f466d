/** A store in PostgreSQL, which runtimes on several machines share. */
import { createHash } from 'node:crypto';
import { assertDurations } from '../../../async/durations.js';
import {
  openClient,
  type PostgresClient,
  type PostgresOptions,
  quoteSchema,
} from '../../../storage/postgres/client.js';
import { postgresError } from '../../../storage/postgres/errors.js';
import { migrateSchema } from '../../../storage/postgres/migrate.js';
import type { SqlClient, SqlParameter, SqlRow } from '../../../storage/postgres/sql.js';
import { decodeText, encodeText } from '../../../storage/postgres/text.js';
import { StoreError } from '../../../text/store-error.js';
import type {
  ArcpStore,
  Commit,
  CommitResult,
  EventQuery,
  JobQuery,
  StoreStats,
  TrimPolicy,
  TrimReport,
} from '../store.js';
import { Commits } from './commits.js';
import { Notices } from './notices.js';
import { arrayOf, EVENT_COLUMNS, eventOf, JOB_COLUMNS, jobOf, RECORD_COLUMNS, recordOf } from './rows.js';
import { RUNTIME_FORMAT } from './schema.js';
import { Trimmer } from './trim.js';

/** Options of a store in PostgreSQL. */
export type PostgresStoreOptions = PostgresOptions;

/**
 * Opens or creates a store in a PostgreSQL database (version 12 or later). Commits are durable as the database is configured. The commits of
 * one turn of the event loop become one transaction.
 *
 * @param connection a URL such as `postgres://user@host/database`, which needs the package `postgres` or `pg`; or a client of either package.
 *   With a URL, leases and commits have connections of their own, for which reads never wait.
 * @throws StoreError if the database cannot be reached or has data of a later version; `no-driver` if neither package is installed
 * @throws TypeError if an argument is invalid
 * @example
 * const runtime = createRuntime({ store: await postgresStore('postgres://arcp@db.internal/arcp') });
 */
export async function postgresStore(
  connection: string | PostgresClient,
  options: PostgresStoreOptions = {},
): Promise<ArcpStore> {
  const { schema = 'pegwire', maxConnections = 10, timeoutMs, tls } = options;
  const name = quoteSchema(schema);
  assertDurations({ timeoutMs });
  if (!(Number.isSafeInteger(maxConnections) && maxConnections >= 1))
    throw new TypeError(`maxConnections must be a positive integer; got ${maxConnections}`);
  const open = (max: number): Promise<SqlClient> => openClient(connection, { max, timeoutMs, tls });
  const reads = await open(maxConnections);
  const writes = typeof connection === 'string' ? await open(2) : reads;
  try {
    await migrateSchema(reads, name, RUNTIME_FORMAT);
    const store = new PostgresStore({ reads, writes, schema: name, channel: channelOf(schema) });
    await store.readClock();
    return store;
  } catch (error) {
    await Promise.all([reads.close(), writes.close()]);
    throw postgresError(error);
  }
}

/** Returns the channel of the notices of a schema. The names of channels are short, and not all drivers quote them. */
function channelOf(schema: string): string {
  return `arcp_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`;
}

interface StoreParts {
  readonly reads: SqlClient;
  /** The connections of commits and leases. */
  readonly writes: SqlClient;
  /** The quoted name. */
  readonly schema: string;
  readonly channel: string;
}

/** The round trip up to which the time of the database is taken over; the error is at most the half. */
const MAX_ROUND_TRIP_MS = 500;
class PostgresStore implements ArcpStore {
  readonly durable = true;
  readonly #reads: SqlClient;
  readonly #writes: SqlClient;
  readonly #schema: string;
  readonly #commits: Commits;
  readonly #notices: Notices;
  readonly #trimmer: Trimmer;
  /** The time of the database less the monotonic time of this process. */
  #ahead = 0;
  #latest = 0;
  #isClosed = false;

  constructor({ reads, writes, schema, channel }: StoreParts) {
    this.#reads = reads;
    this.#writes = writes;
    this.#schema = schema;
    this.#notices = new Notices({ client: writes, channel });
    this.#trimmer = new Trimmer({
      schema,
      write: (sql, parameters) => this.#write(sql, parameters),
      now: this.now,
      isClosed: () => this.#isClosed,
    });
    this.#commits = new Commits({
      call: async ({ writer, number, isApart, locked: { sessions, scopes, keys, jobs }, commits: group }) => {
        const [row] = await writes.query(
          `SELECT ${schema}.arcp_commit($1, $2::text::bigint, $3::text::boolean, $4::text::text[], $5::text::text[], $6::text::text[],
             $7::text::text[], $8::text::jsonb)::text AS result`,
          [writer, String(number), String(isApart), sessions, scopes, keys, jobs, group],
        );
        return row!['result'] as string;
      },
      onTime: (now, sentAt) => this.#setTime(now, sentAt),
      onDone: (commit, positions) => this.#notices.tell(commit, positions),
    });
  }

  readonly now = (): number => {
    this.#latest = Math.max(this.#latest, Math.floor(performance.now() + this.#ahead));
    return this.#latest;
  };

  async readClock(): Promise<void> {
    const sentAt = performance.now();
    const [row] = await this.#reads.query(`SELECT ${this.#schema}.arcp_now() AS now`);
    this.#setTime(row!['now'] as number, sentAt);
  }

  readonly commit = (commit: Commit): Promise<CommitResult> =>
    this.#isClosed ? Promise.reject(closed()) : this.#commits.add(commit);

  readonly readEvents: ArcpStore['readEvents'] = async (query) => {
    const { where, values } = eventFilter(query);
    const { after = 0, upTo = Number.MAX_SAFE_INTEGER, limit } = query;
    const sql = `SELECT ${EVENT_COLUMNS} FROM ${this.#schema}.arcp_event
      WHERE ${where} sequence > $1::bigint AND sequence <= $2::bigint ORDER BY sequence LIMIT $3::bigint`;
    const bounds = [after, Math.min(upTo, Number.MAX_SAFE_INTEGER), bound(limit)].map((each) => each && String(each));
    return (await this.#read(sql, [...bounds, ...values])).map(eventOf);
  };

  readonly findEvent: ArcpStore['findEvent'] = async (id) => {
    const sql = `SELECT ${EVENT_COLUMNS} FROM ${this.#schema}.arcp_event WHERE id = $1`;
    const [row] = await this.#read(sql, [encodeText(id)]);
    return row && eventOf(row);
  };

  readonly lastSequences: ArcpStore['lastSequences'] = async (sessionIds) => {
    const rows = await this.#read(
      `SELECT session_id, last::double precision AS last FROM ${this.#schema}.arcp_session WHERE session_id = ANY($1::text::text[])`,
      [arrayOf(sessionIds)],
    );
    const lasts = new Map(rows.map((row) => [decodeText(row['session_id'] as string), row['last'] as number]));
    return sessionIds.map((sessionId) => lasts.get(sessionId) ?? 0);
  };

  readonly readJob: ArcpStore['readJob'] = async (jobId) => {
    const sql = `SELECT ${JOB_COLUMNS} FROM ${this.#schema}.arcp_job WHERE job_id = $1`;
    const [row] = await this.#read(sql, [encodeText(jobId)]);
    return row && jobOf(row);
  };

  readonly listJobs: ArcpStore['listJobs'] = async (query) => {
    const { sql, values } = jobsQuery(this.#schema, query);
    return (await this.#read(sql, values)).map(jobOf);
  };

  readonly countQueued: ArcpStore['countQueued'] = async (queue) => {
    const [row] = await this.#read(
      `SELECT coalesce(sum(queued), 0)::double precision AS queued FROM ${this.#schema}.arcp_queue WHERE queue = $1`,
      [encodeText(queue)],
    );
    return row!['queued'] as number;
  };

  readonly claimJobs: ArcpStore['claimJobs'] = async ({ worker, queues, leaseMs, limit }) => {
    const rows = await this.#write(
      `SELECT ${JOB_COLUMNS} FROM ${this.#schema}.arcp_claim($1, $2::text::text[], $3::double precision, $4::bigint)`,
      [encodeText(worker), arrayOf(queues), String(leaseMs), bound(limit)],
    );
    return rows.map(jobOf).toSorted((a, b) => b.priority - a.priority || a.dueAt - b.dueAt);
  };

  readonly msUntilDue: ArcpStore['msUntilDue'] = async (queues) => {
    const [row] = await this.#read(
      `SELECT least(
         (SELECT min(first.due_at) FROM unnest($1::text::text[]) AS each(name) CROSS JOIN LATERAL
           (SELECT min(due_at) AS due_at FROM ${this.#schema}.arcp_job WHERE state = 'queued' AND queue = each.name) AS first),
         (SELECT min(lease_expires_at) FROM ${this.#schema}.arcp_job WHERE lease_expires_at IS NOT NULL AND queue = ANY($1::text::text[]))
       ) - ${this.#schema}.arcp_now() AS ms`,
      [arrayOf(queues)],
    );
    const ms = row!['ms'] as number | null;
    return ms === null ? undefined : Math.max(0, ms);
  };

  readonly renewLeases: ArcpStore['renewLeases'] = async ({ worker, leaseMs, jobs }) => {
    const rows = await this.#write(
      // Locked in the order of commits, so that neither waits for the other in a circle.
      `WITH mine AS (
         SELECT job_id FROM ${this.#schema}.arcp_job
         WHERE lease_owner = $1 AND (job_id, attempt) IN
           (SELECT value->>0, (value->>1)::integer FROM jsonb_array_elements($2::text::jsonb))
         ORDER BY job_id FOR UPDATE)
       UPDATE ${this.#schema}.arcp_job SET lease_expires_at = (SELECT ${this.#schema}.arcp_now()) + $3::double precision
       WHERE job_id = ANY(ARRAY(SELECT job_id FROM mine)) RETURNING job_id, attempt`,
      [
        encodeText(worker),
        JSON.stringify(jobs.map(({ jobId, attempt }) => [encodeText(jobId), attempt])),
        String(leaseMs),
      ],
    );
    return rows.map((row) => ({
      jobId: decodeText(row['job_id'] as string),
      attempt: row['attempt'] as number,
    }));
  };

  readonly readRecord: ArcpStore['readRecord'] = async (scope, key) => {
    const sql = `SELECT ${RECORD_COLUMNS} FROM ${this.#schema}.arcp_record WHERE scope = $1 AND key = $2`;
    const [row] = await this.#read(sql, [encodeText(scope), encodeText(key)]);
    return row && recordOf(row);
  };

  readonly listRecords: ArcpStore['listRecords'] = async (scope, { after = '', limit }) => {
    const sql = `SELECT ${RECORD_COLUMNS} FROM ${this.#schema}.arcp_record WHERE scope = $1 AND key > $2
      ORDER BY key LIMIT $3::bigint`;
    return (await this.#read(sql, [encodeText(scope), encodeText(after), bound(limit)])).map(recordOf);
  };

  readonly readStats = async (): Promise<StoreStats> => {
    const [queues, mailboxes] = await Promise.all([
      this.#read(
        `SELECT queue, count(*)::double precision AS queued, count(*) FILTER (WHERE due_at <= now)::double precision AS due,
           min(due_at) FILTER (WHERE due_at <= now) AS due_at,
           (array_agg(job_id ORDER BY due_at, number) FILTER (WHERE due_at <= now))[1] AS job_id
         FROM ${this.#schema}.arcp_job, ${this.#schema}.arcp_now() AS now WHERE state = 'queued' GROUP BY queue ORDER BY queue`,
      ),
      this.#read(
        `SELECT scope AS mailbox, count(*)::double precision AS unread FROM ${this.#schema}.arcp_record
         WHERE scope >= 'mail:' AND scope < 'mail;' GROUP BY scope ORDER BY scope`,
      ),
    ]);
    return {
      queues: queues.map((row) => ({
        queue: decodeText(row['queue'] as string),
        queued: row['queued'] as number,
        due: row['due'] as number,
        oldest:
          row['job_id'] === null
            ? undefined
            : { jobId: decodeText(row['job_id'] as string), dueAt: row['due_at'] as number },
      })),
      mailboxes: mailboxes.map((row) => ({
        mailbox: decodeText(row['mailbox'] as string),
        unread: row['unread'] as number,
      })),
    };
  };

  readonly trim = (policy: TrimPolicy): Promise<TrimReport> => this.#trimmer.trim(policy);

  readonly watch: ArcpStore['watch'] = (onChange) => this.#notices.watch(onChange);

  readonly close = async (): Promise<void> => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#commits.flush(true);
    await this.#notices.close();
    await Promise.all([this.#reads.close(), this.#writes.close()]);
  };

  async #read(sql: string, parameters: readonly SqlParameter[] = []): Promise<readonly SqlRow[]> {
    return this.#query(this.#reads, sql, parameters);
  }

  async #write(sql: string, parameters: readonly SqlParameter[] = []): Promise<readonly SqlRow[]> {
    return this.#query(this.#writes, sql, parameters);
  }

  async #query(client: SqlClient, sql: string, parameters: readonly SqlParameter[]): Promise<readonly SqlRow[]> {
    if (this.#isClosed) throw closed();
    try {
      return await client.query(sql, parameters);
    } catch (thrown) {
      throw postgresError(thrown);
    }
  }

  /** The answer was given between the request and its arrival. */
  #setTime(now: number, sentAt: number): void {
    const receivedAt = performance.now();
    // The database may have waited for a lock.
    if (this.#ahead !== 0 && receivedAt - sentAt > MAX_ROUND_TRIP_MS) return;
    this.#ahead = now - (sentAt + receivedAt) / 2;
  }
}

/** Converts a limit, for which `null` is unlimited. */
function bound(limit: number): string | null {
  return Number.isFinite(limit) ? String(limit) : null;
}

function eventFilter({ sessionId, jobId, traceId }: EventQuery): { readonly where: string; readonly values: string[] } {
  const of = { session_id: sessionId, job_id: jobId, trace_id: traceId };
  const selected = Object.entries(of).find(([, value]) => value !== undefined);
  if (selected === undefined) return { where: '', values: [] };
  return { where: `${selected[0]} = $4 AND`, values: [encodeText(selected[1]!)] };
}

/** Returns a query of jobs with exactly the given filters, so that an index serves each. */
export function jobsQuery(
  schema: string,
  { states, sessionId, principal, after, limit }: JobQuery,
): { readonly sql: string; readonly values: SqlParameter[] } {
  const values: SqlParameter[] = [bound(limit)];
  const conditions: string[] = [];
  const add = (condition: (parameter: string) => string, value: string): void => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (states !== undefined) {
    add((list) => `state = ANY(${list}::text::text[])`, arrayOf(states));
    if (states.every((state) => !['completed', 'failed', 'cancelled'].includes(state)))
      conditions.push('ended_at IS NULL');
  }
  if (sessionId !== undefined) add((id) => `session_id = ${id}`, encodeText(sessionId));
  if (principal !== undefined) add((name) => `principal = ${name}`, encodeText(principal));
  if (after !== undefined)
    add(
      (id) => `number > coalesce((SELECT number FROM ${schema}.arcp_job WHERE job_id = ${id}), 0)`,
      encodeText(after),
    );
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return { sql: `SELECT ${JOB_COLUMNS} FROM ${schema}.arcp_job ${where} ORDER BY number LIMIT $1::bigint`, values };
}

function closed(): StoreError {
  return new StoreError('closed', 'The store is closed');
}
