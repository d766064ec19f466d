/** What a runtime asks its file, each prepared once. */
import type { Database, SqlValue, Statement } from '../../storage/database.js';
import { JOB_STATES } from '../protocol/payloads/parts.js';
import type { JobQuery } from './store.js';

const EVENT = 'sequence, id, type, session_id, job_id, stream_id, trace_id, terminal, body, at';
const JOB =
  'job_id, session_id, principal, queue, priority, state, attempt, run_after, lease_owner, lease_until, spec, status, created_at, ended_at';
const QUEUES = 'queue IN (SELECT value FROM json_each(?))';

const SQL = {
  addEvent: `INSERT INTO event (id, type, session_id, job_id, stream_id, trace_id, terminal, body, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  lastAdded: 'SELECT last_insert_rowid() AS last',
  eventById: `SELECT ${EVENT} FROM event WHERE id = ?`,
  events: `SELECT ${EVENT} FROM event WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  eventsOfSession: `SELECT ${EVENT} FROM event WHERE session_id = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  eventsOfJob: `SELECT ${EVENT} FROM event WHERE job_id = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  eventsOfTrace: `SELECT ${EVENT} FROM event
      WHERE job_id IN (SELECT job_id FROM trace WHERE trace_id = ?1) AND trace_id = ?1 AND sequence > ?2 AND sequence <= ?3
    UNION ALL SELECT ${EVENT} FROM event WHERE job_id IS NULL AND trace_id = ?1 AND sequence > ?2 AND sequence <= ?3
    ORDER BY sequence LIMIT ?4`,
  addTrace: 'INSERT OR IGNORE INTO trace VALUES (?, ?)',
  lastAt: 'SELECT at FROM event ORDER BY sequence DESC LIMIT 1',
  lastSequence: `SELECT coalesce(max(seq), 0) AS last FROM sqlite_sequence WHERE name = 'event'`,
  addJob: `INSERT INTO job (${JOB}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  setJob: `UPDATE job SET state = ?, attempt = ?, run_after = ?, lease_owner = ?, lease_until = ?, status = ?, ended_at = ?
    WHERE job_id = ?`,
  job: `SELECT ${JOB} FROM job WHERE job_id = ?`,
  queued: `SELECT coalesce(sum(queued), 0) AS n FROM queue WHERE ${QUEUES}`,
  // One queue at a time: its index has them in this order.
  dueQueued: `SELECT ${JOB} FROM job WHERE state = 'queued' AND queue = ? AND run_after <= ?
    ORDER BY priority DESC, run_after, number LIMIT ?`,
  dueLeased: `SELECT ${JOB} FROM job WHERE lease_until <= ? AND ${QUEUES}
    ORDER BY lease_until LIMIT ?`,
  leased: `SELECT ${JOB} FROM job WHERE lease_until IS NOT NULL AND ${QUEUES}`,
  nextQueued: `SELECT min(run_after) AS due FROM job WHERE state = 'queued' AND ${QUEUES}`,
  nextLeased: `SELECT min(lease_until) AS due FROM job WHERE lease_until IS NOT NULL AND ${QUEUES}`,
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

/**
 * Builds the statement that lists jobs by exactly the filters that are given. Each state is read by an index that has its jobs in the order of
 * their numbers, and SQLite merges them: no job is read that is not listed.
 */
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
      // The plus keeps the narrower index.
      conditions.push(`${column === 'principal' && sessionId !== undefined ? '+' : ''}${column} = ?`);
      values.push(value);
    }
    if (after !== undefined) {
      conditions.push('number > coalesce((SELECT number FROM job WHERE job_id = ?), 0)');
      values.push(after);
    }
    return `SELECT number, ${JOB} FROM job${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`;
  });
  if (selects.length === 0) return { sql: `SELECT ${JOB} FROM job LIMIT 0`, values: [] };
  // SQLite has no infinity, and takes a negative limit for none.
  values.push(Number.isFinite(limit) ? limit : -1);
  return { sql: `${selects.join(' UNION ALL ')} ORDER BY number LIMIT ?`, values };
}
