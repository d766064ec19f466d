/** What was granted, and for how long (spec 003, "Permissions"). */
import { ArcpError } from '../../protocol/errors.js';
import type { RecordChange, StoredRecord } from '../../store/store.js';
import type { Scope } from './contract.js';
import { covers, denied, say } from './scope.js';

/** Where the grants of a job stand, and those of a session. */
export const leasesOf = (owner: string): string => `lease:${owner}`;

/** A grant, as it is kept. */
export interface KeptLease extends Scope {
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** How often it may be used; any number of times where it is not said. */
  readonly maxUses?: number | undefined;
  readonly uses: number;
  /** Whether each use is told of. */
  readonly isAudited?: boolean | undefined;
  /** What it was granted by: the answer to a request, or a policy. */
  readonly grantedBy?: string | undefined;
  readonly constraints?: Readonly<Record<string, unknown>> | undefined;
}

export function leaseOf({ value }: StoredRecord): KeptLease {
  return JSON.parse(value) as KeptLease;
}

/** @param expect the version that the record has; 0 for none */
export function leaseRecord(owner: string, leaseId: string, lease: KeptLease, expect: number): RecordChange {
  return { scope: leasesOf(owner), key: leaseId, value: JSON.stringify(lease), expect, owner };
}

/** @throws ArcpError `LEASE_EXPIRED`, `PERMISSION_DENIED` where it does not allow what is wanted now */
export function assertAllows(lease: KeptLease, wanted: Scope, now: number): void {
  if (!covers(lease, wanted)) throw denied(wanted, `what was granted is ${say(lease)}`);
  if (now >= lease.expiresAt)
    throw new ArcpError('LEASE_EXPIRED', `${say(wanted)}: what was granted has expired`, {
      details: { expired_at: new Date(lease.expiresAt).toISOString() },
    });
  if (lease.maxUses !== undefined && lease.uses >= lease.maxUses)
    throw denied(wanted, `it was granted for ${lease.maxUses} uses`, { max_uses: lease.maxUses });
}

export function allows(lease: KeptLease, wanted: Scope, now: number): boolean {
  return covers(lease, wanted) && now < lease.expiresAt && (lease.maxUses === undefined || lease.uses < lease.maxUses);
}
