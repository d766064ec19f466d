/** Stored leases and permission requests (spec 003, "Permissions"). */
import { deferred } from '../../../async/listeners.js';
import { after } from '../../../async/timers.js';
import { ArcpError } from '../../protocol/errors.js';
import { formatTimestamp } from '../../protocol/ids.js';
import type { ArcpStore, RecordChange, StoredRecord } from '../../store/store.js';
import type { Scope } from '../types.js';
import { covers, describeScope, permissionDenied } from './policy.js';

export const leasesOf = (owner: string): string => `lease:${owner}`;

export interface StoredLease extends Scope {
  readonly expiresAt: number;
  readonly maxUses?: number | undefined;
  readonly uses: number;
  /** `true` if each use is reported. */
  readonly isAudited?: boolean | undefined;
  /** The answer that granted it, or `policy`. */
  readonly grantedBy?: string | undefined;
  readonly constraints?: Readonly<Record<string, unknown>> | undefined;
}

/** JSON has no infinity. */
function fromJson(value: number | null): number {
  return value ?? Number.POSITIVE_INFINITY;
}

/** Returns the `expires_at` of a message; `undefined` for never. */
export function expiryOf(moment: number): string | undefined {
  return Number.isFinite(moment) ? formatTimestamp(moment) : undefined;
}

export function leaseOf({ value }: StoredRecord): StoredLease {
  const { expiresAt, ...lease } = JSON.parse(value) as StoredLease;
  return { ...lease, expiresAt: fromJson(expiresAt) };
}

export function leaseRecord(owner: string, leaseId: string, lease: StoredLease, expect: number): RecordChange {
  return { scope: leasesOf(owner), key: leaseId, value: JSON.stringify(lease), expect, owner };
}

export function assertAllows(lease: StoredLease, wanted: Scope, now: number): void {
  if (!covers(lease, wanted)) throw permissionDenied(wanted, `the lease covers only ${describeScope(lease)}`);
  if (now >= lease.expiresAt)
    throw new ArcpError(
      'LEASE_EXPIRED',
      `${describeScope(wanted)}: the lease has expired; request the permission again`,
      {
        details: { expired_at: new Date(lease.expiresAt).toISOString() },
      },
    );
  if (lease.maxUses !== undefined && lease.uses >= lease.maxUses)
    throw permissionDenied(wanted, `the lease was granted for ${lease.maxUses} uses, which are used up`, {
      max_uses: lease.maxUses,
    });
}

export function allows(lease: StoredLease, wanted: Scope, now: number): boolean {
  return covers(lease, wanted) && now < lease.expiresAt && (lease.maxUses === undefined || lease.uses < lease.maxUses);
}

/** The scope of requests by the ids of their messages. */
export const REQUESTS = 'permission';
/** Returns the scope of the requests of a job, by their keys. */
export const requestsOf = (jobId: string): string => `asked:${jobId}`;

export interface StoredRequest {
  readonly jobId: string;
  readonly sessionId: string;
  readonly principal: string;
  readonly wanted: Scope;
  readonly state: 'pending' | 'granted' | 'denied' | 'expired';
  readonly expiresAt: number;
  readonly leaseMs: number;
  readonly leaseId?: string | undefined;
  /** The session, if the lease is for all its jobs. @default the job */
  readonly leaseOwner?: string | undefined;
  readonly answeredBy?: string | undefined;
  readonly reason?: string | undefined;
}

type RequestJson = Omit<StoredRequest, 'leaseMs'> & { readonly leaseSeconds: number };

export function requestOf({ value }: StoredRecord): StoredRequest {
  const { expiresAt, leaseSeconds, ...request } = JSON.parse(value) as RequestJson;
  return { ...request, expiresAt: fromJson(expiresAt), leaseMs: fromJson(leaseSeconds) * 1000 };
}

export function requestRecord(id: string, request: StoredRequest, expect: number): RecordChange {
  const { leaseMs, ...rest } = request;
  const stored: RequestJson = { ...rest, leaseSeconds: leaseMs / 1000 };
  return { scope: REQUESTS, key: id, value: JSON.stringify(stored), expect, owner: request.jobId };
}

export async function pendingRequestsOf(store: ArcpStore, jobId: string): Promise<string[]> {
  const records = await store.listRecords(requestsOf(jobId), { limit: Number.POSITIVE_INFINITY });
  const found = await Promise.all(records.map(({ value }) => store.readRecord(REQUESTS, value)));
  return found.flatMap((record) => (record !== undefined && requestOf(record).state === 'pending' ? [record.key] : []));
}

/** The interval of reading the store. A runtime that receives the answer tells that of the job, which may have changed. */
const POLL_INTERVAL_MS = 5000;

export class AnswerWaiters {
  readonly #waiters = new Map<string, Set<(value: unknown) => void>>();

  notify(id: string): void {
    for (const wake of this.#waiters.get(id) ?? []) wake(undefined);
  }

  async wait(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = deferred<unknown>();
    const cancel = after(Math.max(0, Math.min(ms, POLL_INTERVAL_MS)), () => resolve(undefined));
    const all = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, all.add(resolve));
    signal.addEventListener('abort', resolve, { once: true });
    try {
      await promise;
    } finally {
      cancel();
      signal.removeEventListener('abort', resolve);
      all.delete(resolve);
      if (all.size === 0) this.#waiters.delete(id);
    }
  }
}
