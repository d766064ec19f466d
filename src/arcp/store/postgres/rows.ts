/** Conversion between the values of the store and those of PostgreSQL. */
import type { SqlRow } from '../../../storage/postgres/sql.js';
import { decodeText, encodeText } from '../../../storage/postgres/text.js';
import type { JobState } from '../../protocol/payloads/parts.js';
import { type Commit, type JobRow, LIVE_STATES, type StoredEvent, type StoredRecord } from '../store.js';

export const EVENT_COLUMNS =
  'sequence::double precision AS sequence, id, type, session_id, job_id, stream_id, trace_id, terminal, body, at';
export const RECORD_COLUMNS = 'scope, key, value, version, owner';
export const JOB_COLUMNS = [
  'job_id, session_id, principal, queue, priority, state, attempt, due_at, lease_owner, lease_expires_at',
  'spec, status, created_at, ended_at',
].join(', ');

type Fields = Readonly<Record<string, unknown>>;

/** The rows that a group of commits locks, as array literals of PostgreSQL. */
export interface LockedRows {
  readonly sessions: string;
  readonly scopes: string;
  /** The keys of the records, in the same order as their scopes. */
  readonly keys: string;
  readonly jobs: string;
}

export function lockedRows(commits: readonly Commit[]): LockedRows {
  const [sessions, jobIds, recordKeys] = [new Set<string>(), new Set<string>(), new Map<string, readonly string[]>()];
  for (const { records = [], jobs = [], events = [] } of commits) {
    for (const { scope, key } of records) recordKeys.set(JSON.stringify([scope, key]), [scope, key]);
    for (const { jobId } of jobs) jobIds.add(jobId);
    for (const { sessionId, jobId } of events) {
      sessions.add(sessionId);
      if (jobId !== undefined) jobIds.add(jobId);
    }
  }
  return {
    // All writers add sessions in the same order.
    sessions: arrayOf([...sessions].toSorted()),
    scopes: arrayOf([...recordKeys.values()].map(([scope]) => scope!)),
    keys: arrayOf([...recordKeys.values()].map(([, key]) => key!)),
    jobs: arrayOf([...jobIds]),
  };
}

/** Returns an array literal of PostgreSQL. */
export function arrayOf(texts: readonly string[]): string {
  return arrayOfEncoded(texts.map(encodeText));
}

/** Returns an array literal of texts as the database has them. */
export function arrayOfEncoded(texts: readonly string[]): string {
  return `{${texts.map((each) => `"${each.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;
}

/** Returns a commit as JSON for `arcp_commit`. Empty lists are absent. */
export function encodeCommit({ records = [], newJobs = [], maxQueued, jobs = [], events = [] }: Commit): Fields {
  const lists = {
    records: records.map(({ scope, key, value, expect, owner }) =>
      encoded({ scope, key, expect, owner, ...(value === undefined ? {} : { value }) }),
    ),
    newJobs: newJobs.map((job) => encoded({ ...job, lease: job.lease && encoded({ ...job.lease }) })),
    jobs: jobs.map(({ jobId, attempt, states = LIVE_STATES, status, set }) =>
      encoded({ jobId, attempt, states, status, set: encoded({ ...set }) }),
    ),
    events: events.map((event) => encoded({ ...event })),
  };
  const filled = Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
  return maxQueued === undefined || maxQueued === Number.POSITIVE_INFINITY ? filled : { ...filled, maxQueued };
}

/** Encodes the texts and the infinite numbers of an object, and drops `undefined`. */
function encoded(object: Fields): Fields {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object))
    if (value !== undefined) result[name] = typeof value === 'string' ? encodeText(value) : jsonValue(value);
  return result;
}

/** JSON has no infinite numbers, but PostgreSQL reads their texts. */
function jsonValue(value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

export function eventOf(row: SqlRow): StoredEvent {
  return {
    sequence: row['sequence'] as number,
    id: text(row['id']),
    type: text(row['type']),
    sessionId: text(row['session_id']),
    body: text(row['body']),
    storedAt: row['at'] as number,
    jobId: optional(row['job_id']) ?? undefined,
    streamId: optional(row['stream_id']) ?? undefined,
    traceId: optional(row['trace_id']) ?? undefined,
    isTerminal: row['terminal'] === true || undefined,
  };
}

export function jobOf(row: Fields): JobRow {
  return {
    jobId: text(row['job_id']),
    sessionId: text(row['session_id']),
    principal: text(row['principal']),
    queue: text(row['queue']),
    priority: Number(row['priority']),
    state: row['state'] as JobState,
    attempt: row['attempt'] as number,
    dueAt: Number(row['due_at']),
    leaseOwner: optional(row['lease_owner']),
    leaseExpiresAt: row['lease_expires_at'] === null ? null : Number(row['lease_expires_at']),
    spec: text(row['spec']),
    status: text(row['status']),
    createdAt: row['created_at'] as number,
    endedAt: row['ended_at'] as number | null,
  };
}

export function recordOf(row: Fields): StoredRecord {
  return {
    scope: text(row['scope']),
    key: text(row['key']),
    value: text(row['value']),
    version: row['version'] as number,
    owner: optional(row['owner']),
  };
}

function text(value: unknown): string {
  return decodeText(value as string);
}

function optional(value: unknown): string | null {
  return value === null ? null : text(value);
}
