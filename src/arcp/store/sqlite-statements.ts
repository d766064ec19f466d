/** What a runtime asks its file, each prepared once. */
import type { Database, Statement } from '../../storage/database.js';

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
  jobs: `SELECT ${JOB} FROM job
    WHERE number > coalesce((SELECT number FROM job WHERE job_id = ?1), 0)
      AND (?2 IS NULL OR state IN (SELECT value FROM json_each(?2)))
      AND (?3 IS NULL OR session_id = ?3) AND (?4 IS NULL OR principal = ?4)
    ORDER BY number LIMIT ?5`,
  queued: `SELECT count(*) AS n FROM job WHERE state = 'queued' AND ${QUEUES}`,
  // One index each, instead of a look at every job.
  dueQueued: `SELECT ${JOB} FROM job WHERE state = 'queued' AND ${QUEUES} AND run_after <= ?
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
  dropEndedTraces: 'DELETE FROM trace WHERE job_id IN (SELECT job_id FROM job WHERE ended_at < ?)',
  dropEndedEvents: 'DELETE FROM event WHERE job_id IN (SELECT job_id FROM job WHERE ended_at < ?) RETURNING sequence',
  dropEndedRecords: 'DELETE FROM record WHERE owner IN (SELECT job_id FROM job WHERE ended_at < ?) RETURNING version',
  dropEndedJobs: 'DELETE FROM job WHERE ended_at < ? RETURNING number',
  dropOldEvents: 'DELETE FROM event WHERE job_id IS NULL AND at < ? RETURNING sequence',
  dropOldRecords: 'DELETE FROM record WHERE owner IS NULL AND at < ? RETURNING version',
  dropSessionEvents: 'DELETE FROM event WHERE session_id = ? AND job_id IS NULL RETURNING sequence',
  dropSessionRecords: 'DELETE FROM record WHERE owner = ? RETURNING version',
} as const;

export type Statements = Readonly<Record<keyof typeof SQL, Statement>>;

export function prepareStatements(database: Database): Statements {
  return Object.fromEntries(Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)])) as Statements;
}
