/** The rules by which jobs change, which all stores share. */
import type { JobState } from '../protocol/payloads/parts.js';
import { type JobChange, type JobPatch, type JobRow, LIVE_STATES, type NewJobRow } from './store.js';

/** The values of a job on which changes depend. */
export type JobHead = Pick<JobRow, 'state' | 'attempt' | 'status' | 'endedAt'>;

/** Returns whether a job matches the expectations of a change. */
export function isExpected(found: JobHead | undefined, { attempt, states = LIVE_STATES, status }: JobChange): boolean {
  if (found === undefined || !states.includes(found.state)) return false;
  return (attempt === undefined || found.attempt === attempt) && (status === undefined || found.status === status);
}

/** Returns the row of a new job. @param now the time of the store */
export function newRow(job: NewJobRow, now: number): JobRow {
  const { lease, delayMs = 0 } = job;
  // Built member by member, since V8 copies objects of this size slowly.
  return {
    jobId: job.jobId,
    sessionId: job.sessionId,
    principal: job.principal,
    queue: job.queue,
    priority: job.priority,
    state: job.state,
    attempt: job.attempt,
    dueAt: now + delayMs,
    leaseOwner: lease?.worker ?? null,
    leaseExpiresAt: lease === undefined ? null : now + lease.leaseMs,
    spec: job.spec,
    status: job.status,
    createdAt: now,
    endedAt: isLive(job.state) ? null : now,
  };
}

/** The new values of a job; `undefined` if a value does not change. */
export interface ChangedValues extends JobHead {
  readonly dueAt: number | undefined;
  /** `false` if the job loses its lease. */
  readonly hasLease: boolean;
}

/** Returns the new values of a job. @param now the time of the store */
export function changedValues(job: JobHead, set: JobPatch, now: number): ChangedValues {
  const { state = job.state, status = job.status, delayMs } = set;
  return {
    state,
    attempt: job.attempt,
    status,
    dueAt: delayMs === undefined ? undefined : now + delayMs,
    hasLease: state === 'running' || state === 'blocked',
    endedAt: isLive(state) ? null : (job.endedAt ?? now),
  };
}

/** Returns the row of a job that a worker has claimed. @param now the time of the store */
export function claimedRow(job: JobRow, worker: string, leaseMs: number, now: number): JobRow {
  return { ...job, state: 'running', attempt: job.attempt + 1, leaseOwner: worker, leaseExpiresAt: now + leaseMs };
}

/** Compares jobs in the order in which they are claimed. */
export function byUrgency(a: JobRow, b: JobRow): number {
  return b.priority - a.priority || a.dueAt - b.dueAt;
}

function isLive(state: JobState): boolean {
  return LIVE_STATES.includes(state);
}
