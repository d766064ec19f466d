/** Whether a job is as somebody expects who wants to change it. */
import { type JobChange, type JobRow, type Lease, LIVE_STATES } from './store.js';

export function isExpected(found: JobRow | undefined, { attempt, states = LIVE_STATES }: JobChange): boolean {
  return found !== undefined && (attempt === undefined || found.attempt === attempt) && states.includes(found.state);
}

/** Tells the lease that a job has now from those that it had before. */
export function isLeaseOf({ jobId, attempt, leaseUntil }: JobRow): (lease: Lease) => boolean {
  return (lease) => lease.jobId === jobId && lease.attempt === attempt && lease.leaseUntil === leaseUntil;
}
