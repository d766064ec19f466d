/** The rules by which jobs change, which all stores share. */
import type { JobState } from '../protocol/payloads/parts.js';
import { type JobChange, type JobPatch, type JobRow, LIVE_STATES, type NewJobRow } from './store.js';

/** Returns whether a job matches the expectations of a change. */
export function isExpected(found: JobRow | undefined, { attempt, states = LIVE_STATES, status }: JobChange): boolean {
  if (found === undefined || !states.includes(found.state)) return false;
  return (attempt === undefined || found.attempt === attempt) && (status === undefined || found.status === status);
}

/** Returns the row of a new job. @param now the time of the store */
export function newRow({ delayMs = 0, lease, ...job }: NewJobRow, now: number): JobRow {
  return {
    ...job,
    dueAt: now + delayMs,
    leaseOwner: lease?.worker ?? null,
    leaseExpiresAt: lease === undefined ? null : now + lease.leaseMs,
    createdAt: now,
    endedAt: isLive(job.state) ? null : now,
  };
}

/** Returns the changed row of a job. @param now the time of the store */
export function changedRow(job: JobRow, { delayMs, ...set }: JobPatch, now: number): JobRow {
  const changed = { ...job, ...set };
  const { state } = changed;
  return {
    ...changed,
    dueAt: delayMs === undefined ? job.dueAt : now + delayMs,
    ...(mayHaveLease(state) ? {} : { leaseOwner: null, leaseExpiresAt: null }),
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

function mayHaveLease(state: JobState): boolean {
  return state === 'running' || state === 'blocked';
}
