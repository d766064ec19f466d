/** Comparison of jobs and leases with the expectations of a change. */
import { type JobChange, type JobRow, type Lease, LIVE_STATES } from './store.js';

/** Returns whether a job matches the expectations of a change. */
export function isExpected(found: JobRow | undefined, { attempt, states = LIVE_STATES, status }: JobChange): boolean {
  if (found === undefined || !states.includes(found.state)) return false;
  return (attempt === undefined || found.attempt === attempt) && (status === undefined || found.status === status);
}

/** Returns a predicate that distinguishes the current lease of a job from earlier ones. */
export function isLeaseOf({ jobId, attempt, leaseExpiresAt }: JobRow): (lease: Lease) => boolean {
  return (lease) => lease.jobId === jobId && lease.attempt === attempt && lease.leaseExpiresAt === leaseExpiresAt;
}
