/** Whether a job is as somebody expects who wants to change it. */
import { type JobChange, type JobRow, type Lease, LIVE_STATES } from './store.js';

export function isExpected(found: JobRow | undefined, { attempt, states = LIVE_STATES, status }: JobChange): boolean {
  if (found === undefined || !states.includes(found.state)) return false;
  return (attempt === undefined || found.attempt === attempt) && (status === undefined || found.status === status);
}

/** Tells the lease that a job has now from those that it had before. */
export function isLeaseOf({ jobId, attempt, leaseUntil }: JobRow): (lease: Lease) => boolean {
  return (lease) => lease.jobId === jobId && lease.attempt === attempt && lease.leaseUntil === leaseUntil;
}
