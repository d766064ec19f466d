/** The tables of runtime files, the statements on them, and the conversion of rows. */
import type { Database, Row, SqlValue, Statement } from '../../storage/database.js';
import type { Format } from '../../storage/migrate.js';
import { JOB_STATES } from '../protocol/payloads/parts.js';
import type { JobQuery, JobRow, StoredEvent, StoredRecord } from './store.js';

export const RUNTIME_FORMAT: Format = {
  name: 'ARCP runtimes',
  applicationId: 0x41_52_43_50,
  migrations: [
    `CREATE TABLE event (
       -- Never reused, even if the last events are removed, since clients resume after a number.
       sequence INTEGER PRIMARY KEY AUTOINCREMENT,
       id TEXT NOT NULL UNIQUE,
       type TEXT NOT NULL,
       session_id TEXT NOT NULL,
       job_id TEXT,
       stream_id TEXT,
       trace_id TEXT,
       terminal INTEGER NOT NULL,
       body TEXT NOT NULL,
       -- Milliseconds since 1970.
       at REAL NOT NULL
     ) STRICT;
     CREATE INDEX event_of_session ON event (session_id);
     CREATE INDEX event_of_job ON event (job_id) WHERE job_id IS NOT NULL;
     CREATE INDEX event_of_trace ON event (trace_id) WHERE trace_id IS NOT NULL;
     -- A job ends once, whichever process writes.
     CREATE UNIQUE INDEX one_terminal ON event (job_id) WHERE terminal = 1;

     CREATE TABLE job (
       number INTEGER PRIMARY KEY,
       job_id TEXT NOT NULL UNIQUE,
       session_id TEXT NOT NULL,
       principal TEXT NOT NULL,
       queue TEXT NOT NULL,
       priority REAL NOT NULL,
       state TEXT NOT NULL,
       attempt INTEGER NOT NULL,
       run_after REAL NOT NULL,
       lease_owner TEXT,
       lease_until REAL,
       spec TEXT NOT NULL,
       status TEXT NOT NULL,
       created_at REAL NOT NULL,
       ended_at REAL
     ) STRICT;
     CREATE INDEX job_queued ON job (queue, priority DESC, run_after) WHERE state = 'queued';
     CREATE INDEX job_leased ON job (lease_until) WHERE lease_until IS NOT NULL;
     CREATE INDEX job_live ON job (session_id) WHERE ended_at IS NULL;
     CREATE INDEX job_ended ON job (ended_at) WHERE ended_at IS NOT NULL;

     CREATE TABLE record (
       scope TEXT NOT NULL,
       key TEXT NOT NULL,
       value TEXT NOT NULL,
       version INTEGER NOT NULL,
       owner TEXT,
       -- Milliseconds since 1970.
       at REAL NOT NULL,
       PRIMARY KEY (scope, key)
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX record_of_owner ON record (owner) WHERE owner IS NOT NULL;`,

    // Trace ids are random: an index of them writes a page per event. The narrow table of traces per job is searched instead.
    `DROP INDEX event_of_trace;
     CREATE INDEX event_of_trace ON event (trace_id) WHERE job_id IS NULL AND trace_id IS NOT NULL;
     CREATE TABLE trace (
       job_id TEXT NOT NULL,
       trace_id TEXT NOT NULL,
       PRIMARY KEY (job_id, trace_id)
     ) STRICT, WITHOUT ROWID;
     INSERT INTO trace SELECT DISTINCT job_id, trace_id FROM event WHERE job_id IS NOT NULL AND trace_id IS NOT NULL;`,

    // An index for each filter of jobs in order of their numbers, and for each rule of removal.
    `DROP INDEX job_live;
     CREATE INDEX job_of_session ON job (session_id, state);
     CREATE INDEX job_of_principal ON job (principal, state);
     CREATE INDEX job_in_state ON job (state);
     CREATE INDEX event_of_no_job ON event (at) WHERE job_id IS NULL;
     CREATE INDEX event_of_session_alone ON event (session_id) WHERE job_id IS NULL;
     CREATE INDEX record_of_nobody ON record (at) WHERE owner IS NULL;

     -- A session owns its record, so that age alone does not remove it.
     UPDATE record SET owner = key WHERE scope = 'session';

     -- The number of waiting jobs in each queue, since counting them takes longer the more there are.
     CREATE TABLE queue (
       queue TEXT PRIMARY KEY,
       queued INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID;
     INSERT INTO queue SELECT queue, count(*) FROM job WHERE state = 'queued' GROUP BY queue;
     CREATE TRIGGER job_added AFTER INSERT ON job WHEN new.state = 'queued' BEGIN
       INSERT INTO queue VALUES (new.queue, 1) ON CONFLICT DO UPDATE SET queued = queued + 1;
     END;
     CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN (old.state = 'queued') <> (new.state = 'queued') BEGIN
       INSERT INTO queue VALUES (new.queue, iif(new.state = 'queued', 1, -1)) ON CONFLICT DO UPDATE SET queued = queued + excluded.queued;
     END;
     CREATE TRIGGER job_dropped AFTER DELETE ON job WHEN old.state = 'queued' BEGIN
       UPDATE queue SET queued = queued - 1 WHERE queue = old.queue;
     END;`,

    // The time at which the machine was started, by which all processes measure time.
    `CREATE TABLE clock (
       one INTEGER PRIMARY KEY CHECK (one = 1),
       boot TEXT NOT NULL,
       -- Milliseconds since 1970.
       started_at REAL NOT NULL
     ) STRICT;`,
  ],
};

const EVENT = 'sequence, id, type, session_id, job_id, stream_id, trace_id, terminal, body, at';
/** The columns of the members of a {@link JobRow}. */
const JOB_COLUMNS = {
  jobId: 'job_id',
  sessionId: 'session_id',
  principal: 'principal',
  queue: 'queue',
  priority: 'priority',
  state: 'state',
  attempt: 'attempt',
  dueAt: 'run_after',
  leaseOwner: 'lease_owner',
  leaseExpiresAt: 'lease_until',
  spec: 'spec',
  status: 'status',
  createdAt: 'created_at',
  endedAt: 'ended_at',
} as const satisfies Readonly<Record<keyof JobRow, string>>;
const JOB_MEMBERS = Object.keys(JOB_COLUMNS) as (keyof JobRow)[];
const JOB_ROW = JOB_MEMBERS.map((member) => `${JOB_COLUMNS[member]} AS ${member}`).join(', ');
const QUEUES = 'queue IN (SELECT value FROM json_each(?))';

const SQL = {
  addEvent: `INSERT INTO event (sequence, id, type, session_id, job_id, stream_id, trace_id, terminal, body, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  lastSequence: "SELECT coalesce(max(seq), 0) AS last FROM sqlite_sequence WHERE name = 'event'",
  eventById: `SELECT ${EVENT} FROM event WHERE id = ?`,
  events: `SELECT ${EVENT} FROM event WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  eventsOfSession: `SELECT ${EVENT} FROM event WHERE session_id = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  eventsOfJob: `SELECT ${EVENT} FROM event WHERE job_id = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  eventsOfTrace: `SELECT ${EVENT} FROM event
      WHERE job_id IN (SELECT job_id FROM trace WHERE trace_id = ?) AND trace_id = ? AND sequence > ? AND sequence <= ?
    UNION ALL SELECT ${EVENT} FROM event WHERE job_id IS NULL AND trace_id = ? AND sequence > ? AND sequence <= ?
    ORDER BY sequence LIMIT ?`,
  addTrace: 'INSERT OR IGNORE INTO trace VALUES (?, ?)',
  lastAt: 'SELECT at FROM event ORDER BY sequence DESC LIMIT 1',
  lastOfSession: 'SELECT coalesce(max(sequence), 0) AS last FROM event WHERE session_id = ?',
  clock: 'SELECT started_at FROM clock WHERE boot = ?',
  setClock: 'INSERT OR REPLACE INTO clock VALUES (1, ?, ?)',
  addJob: `INSERT INTO job (${Object.values(JOB_COLUMNS).join(', ')}) VALUES (${JOB_MEMBERS.map(() => '?').join(', ')})`,
  claimJob: "UPDATE job SET state = 'running', attempt = ?, lease_owner = ?, lease_until = ? WHERE job_id = ?",
  changeJob: `UPDATE job SET state = ?, status = ?, run_after = coalesce(?, run_after),
    lease_owner = iif(?, lease_owner, NULL), lease_until = iif(?, lease_until, NULL), ended_at = ? WHERE job_id = ?`,
  job: `SELECT ${JOB_ROW} FROM job WHERE job_id = ?`,
  jobHead: 'SELECT state, attempt, status, ended_at AS endedAt FROM job WHERE job_id = ?',
  queued: 'SELECT coalesce(sum(queued), 0) AS n FROM queue WHERE queue = ?',
  // One queue at a time, since the index has this order.
  dueQueued: `SELECT ${JOB_ROW} FROM job WHERE state = 'queued' AND queue = ? AND run_after <= ?
    ORDER BY priority DESC, run_after, number LIMIT ?`,
  dueLeased: `SELECT ${JOB_ROW} FROM job WHERE lease_until <= ? AND ${QUEUES}
    ORDER BY lease_until LIMIT ?`,
  nextQueued: `SELECT min(run_after) AS due FROM job WHERE state = 'queued' AND ${QUEUES}`,
  renew: 'UPDATE job SET lease_until = ? WHERE job_id = ? AND attempt = ? AND lease_owner = ? RETURNING job_id',
  nextLeased: `SELECT min(lease_until) AS due FROM job WHERE lease_until IS NOT NULL AND ${QUEUES}`,
  queueStats: `SELECT queue, count(*) AS queued, sum(run_after <= ?) AS due, min(run_after) AS dueAt FROM job
    WHERE state = 'queued' GROUP BY queue ORDER BY queue`,
  dueSince: `SELECT job_id AS jobId FROM job WHERE state = 'queued' AND queue = ? AND run_after = ? ORDER BY number LIMIT 1`,
  mailboxStats: `SELECT scope AS mailbox, count(*) AS unread FROM record WHERE scope >= 'mail:' AND scope < 'mail;'
    GROUP BY scope ORDER BY scope`,
  recordVersion: 'SELECT version FROM record WHERE scope = ? AND key = ?',
  record: 'SELECT scope, key, value, version, owner FROM record WHERE scope = ? AND key = ?',
  records: 'SELECT scope, key, value, version, owner FROM record WHERE scope = ? AND key > ? ORDER BY key LIMIT ?',
  setRecord: `INSERT INTO record (scope, key, value, version, owner, at) VALUES (?, ?, ?, 1, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value, version = version + 1, owner = coalesce(excluded.owner, owner), at = excluded.at`,
  removeRecord: 'DELETE FROM record WHERE scope = ? AND key = ?',
  endedJobs: 'SELECT job_id FROM job WHERE ended_at < ? ORDER BY ended_at LIMIT ?',
  dropJobEvents: `DELETE FROM event WHERE sequence IN (SELECT sequence FROM event WHERE job_id = ? LIMIT ?) RETURNING sequence`,
  dropJobTraces: 'DELETE FROM trace WHERE job_id = ?',
  dropJob: 'DELETE FROM job WHERE job_id = ? RETURNING number',
  dropOldEvents: `DELETE FROM event WHERE sequence IN
    (SELECT sequence FROM event WHERE job_id IS NULL AND at < ? LIMIT ?) RETURNING sequence`,
  dropOldRecords: `DELETE FROM record WHERE (scope, key) IN
    (SELECT scope, key FROM record WHERE owner IS NULL AND at < ? LIMIT ?) RETURNING version`,
  dropSessionEvents: `DELETE FROM event WHERE sequence IN
    (SELECT sequence FROM event WHERE job_id IS NULL AND session_id = ? LIMIT ?) RETURNING sequence`,
  dropRecordsOf: `DELETE FROM record WHERE (scope, key) IN
    (SELECT scope, key FROM record WHERE owner = ? LIMIT ?) RETURNING version`,
} as const;

export type Statements = Readonly<Record<keyof typeof SQL, Statement>>;

export function prepareStatements(database: Database): Statements {
  return Object.fromEntries(Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)])) as Statements;
}

/** Returns a query of jobs with exactly the given filters. SQLite merges one ordered index scan per state, so that it reads only matching jobs. */
export function jobsQuery({ states, sessionId, principal, after, limit }: JobQuery): {
  readonly sql: string;
  readonly values: SqlValue[];
} {
  const by = sessionId === undefined ? principal : sessionId;
  const among = (states && new Set(states)) ?? (by === undefined ? [undefined] : JOB_STATES);
  const values: SqlValue[] = [];
  const selects = [...among].map((state) => {
    const conditions = [];
    const given = { state, session_id: sessionId, principal };
    for (const [column, value] of Object.entries(given)) {
      if (value === undefined) continue;
      // The plus makes SQLite use the narrower index.
      conditions.push(`${column === 'principal' && sessionId !== undefined ? '+' : ''}${column} = ?`);
      values.push(value);
    }
    if (after !== undefined) {
      conditions.push('number > coalesce((SELECT number FROM job WHERE job_id = ?), 0)');
      values.push(after);
    }
    return `SELECT number, ${JOB_ROW} FROM job${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`;
  });
  if (selects.length === 0) return { sql: `SELECT ${JOB_ROW} FROM job LIMIT 0`, values: [] };
  values.push(bound(limit));
  return { sql: `${selects.join(' UNION ALL ')} ORDER BY number LIMIT ?`, values };
}

/** Converts a limit. SQLite has no infinity, but a negative limit is unlimited. */
export function bound(limit: number): number {
  return Number.isFinite(limit) ? limit : -1;
}

export function eventOf(row: Row): StoredEvent {
  return {
    sequence: row['sequence'] as number,
    id: row['id'] as string,
    type: row['type'] as string,
    sessionId: row['session_id'] as string,
    body: row['body'] as string,
    storedAt: row['at'] as number,
    jobId: (row['job_id'] as string | null) ?? undefined,
    streamId: (row['stream_id'] as string | null) ?? undefined,
    traceId: (row['trace_id'] as string | null) ?? undefined,
    isTerminal: row['terminal'] === 1 || undefined,
  };
}

export function jobOf(row: Row): JobRow {
  const { number: _, ...job } = row;
  return job as unknown as JobRow;
}

export function jobValues(job: JobRow): SqlValue[] {
  return JOB_MEMBERS.map((member) => job[member]);
}

export function recordOf(row: Row): StoredRecord {
  return { ...row } as unknown as StoredRecord;
}
