/** Rows of runtime files as values, and back. */
import type { Row, SqlValue } from '../../storage/database.js';
import type { JobRow, NewEvent, StoredEvent, StoredRecord } from './store.js';

export function eventOf(row: Row): StoredEvent {
  const { job_id, stream_id, trace_id } = row;
  return {
    ...{ sequence: row['sequence'] as number, id: row['id'] as string, type: row['type'] as string },
    ...{ sessionId: row['session_id'] as string, body: row['body'] as string, at: row['at'] as number },
    ...(job_id === null ? {} : { jobId: job_id as string }),
    ...(stream_id === null ? {} : { streamId: stream_id as string }),
    ...(trace_id === null ? {} : { traceId: trace_id as string }),
    ...(row['terminal'] === 1 ? { isTerminal: true } : {}),
  };
}

/** In the order of the statement that adds it. */
export function eventValues(event: NewEvent, at: number): SqlValue[] {
  const { id, type, sessionId, jobId = null, streamId = null, traceId = null, isTerminal, body } = event;
  return [id, type, sessionId, jobId, streamId, traceId, isTerminal === true ? 1 : 0, body, at];
}

export function jobOf(row: Row): JobRow {
  return {
    jobId: row['job_id'] as string,
    sessionId: row['session_id'] as string,
    principal: row['principal'] as string,
    queue: row['queue'] as string,
    priority: row['priority'] as number,
    state: row['state'] as JobRow['state'],
    attempt: row['attempt'] as number,
    runAfter: row['run_after'] as number,
    leaseOwner: row['lease_owner'] as string | null,
    leaseUntil: row['lease_until'] as number | null,
    spec: row['spec'] as string,
    status: row['status'] as string,
    createdAt: row['created_at'] as number,
    endedAt: row['ended_at'] as number | null,
  };
}

export function jobValues(job: JobRow): SqlValue[] {
  const { jobId, sessionId, principal, queue, priority, state, attempt, runAfter } = job;
  const { leaseOwner, leaseUntil, spec, status, createdAt, endedAt } = job;
  return [
    ...[jobId, sessionId, principal, queue, priority, state, attempt, runAfter],
    ...[leaseOwner, leaseUntil, spec, status, createdAt, endedAt],
  ];
}

/** What may change, in the order of the statement that changes it. */
export function changedValues(job: JobRow): SqlValue[] {
  const { jobId, state, attempt, runAfter, leaseOwner, leaseUntil, status, endedAt } = job;
  return [state, attempt, runAfter, leaseOwner, leaseUntil, status, endedAt, jobId];
}

export function recordOf(row: Row): StoredRecord {
  return {
    scope: row['scope'] as string,
    key: row['key'] as string,
    value: row['value'] as string,
    version: row['version'] as number,
    owner: row['owner'] as string | null,
  };
}
