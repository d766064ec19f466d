/** Grants, and requests that wait for their answers, as they are kept (spec 003, "Permissions"). */
import { deferred } from '../../../async/listeners.js';
import { after } from '../../../async/timers.js';
import { ArcpError } from '../../protocol/errors.js';
import { formatTimestamp } from '../../protocol/ids.js';
import type { ArcpStore, RecordChange, StoredRecord } from '../../store/store.js';
import type { Scope } from '../types.js';
import { covers, describeScope, permissionDenied } from './policy.js';

export const leasesOf = (owner: string): string => `lease:${owner}`;

export interface KeptLease extends Scope {
  readonly expiresAt: number;
  readonly maxUses?: number | undefined;
  readonly uses: number;
  /** Each use is reported. */
  readonly isAudited?: boolean | undefined;
  /** The answer to a request, or a policy. */
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

export function leaseOf({ value }: StoredRecord): KeptLease {
  const { expiresAt, ...lease } = JSON.parse(value) as KeptLease;
  return { ...lease, expiresAt: fromJson(expiresAt) };
}

export function leaseRecord(owner: string, leaseId: string, lease: KeptLease, expect: number): RecordChange {
  return { scope: leasesOf(owner), key: leaseId, value: JSON.stringify(lease), expect, owner };
}

export function assertAllows(lease: KeptLease, wanted: Scope, now: number): void {
  if (!covers(lease, wanted)) throw permissionDenied(wanted, `what was granted is ${describeScope(lease)}`);
  if (now >= lease.expiresAt)
    throw new ArcpError('LEASE_EXPIRED', `${describeScope(wanted)}: what was granted has expired`, {
      details: { expired_at: new Date(lease.expiresAt).toISOString() },
    });
  if (lease.maxUses !== undefined && lease.uses >= lease.maxUses)
    throw permissionDenied(wanted, `it was granted for ${lease.maxUses} uses`, { max_uses: lease.maxUses });
}

export function allows(lease: KeptLease, wanted: Scope, now: number): boolean {
  return covers(lease, wanted) && now < lease.expiresAt && (lease.maxUses === undefined || lease.uses < lease.maxUses);
}

/** Requests by the ids of their messages, and the requests of a job by their scope. */
export const REQUESTS = 'permission';
export const askedBy = (jobId: string): string => `asked:${jobId}`;

export interface KeptRequest {
  readonly jobId: string;
  readonly sessionId: string;
  readonly principal: string;
  readonly wanted: Scope;
  readonly state: 'pending' | 'granted' | 'denied' | 'expired';
  readonly expiresAt: number;
  readonly leaseMs: number;
  readonly leaseId?: string | undefined;
  /** The session, if the grant holds for all of it. @default the job */
  readonly leaseOwner?: string | undefined;
  readonly answeredBy?: string | undefined;
  readonly reason?: string | undefined;
}

type StoredRequest = Omit<KeptRequest, 'leaseMs'> & { readonly leaseSeconds: number };

export function requestOf({ value }: StoredRecord): KeptRequest {
  const { expiresAt, leaseSeconds, ...request } = JSON.parse(value) as StoredRequest;
  return { ...request, expiresAt: fromJson(expiresAt), leaseMs: fromJson(leaseSeconds) * 1000 };
}

export function requestRecord(id: string, request: KeptRequest, expect: number): RecordChange {
  const { leaseMs, ...rest } = request;
  const stored: StoredRequest = { ...rest, leaseSeconds: leaseMs / 1000 };
  return { scope: REQUESTS, key: id, value: JSON.stringify(stored), expect, owner: request.jobId };
}

export async function pendingOf(store: ArcpStore, jobId: string): Promise<string[]> {
  const asked = await store.listRecords(askedBy(jobId), { limit: Number.POSITIVE_INFINITY });
  const found = await Promise.all(asked.map(({ value }) => store.readRecord(REQUESTS, value)));
  return found.flatMap((record) => (record !== undefined && requestOf(record).state === 'pending' ? [record.key] : []));
}

/** Another runtime may receive the answer. */
const LOOK_AGAIN = 1000;

export class AnswerWaiters {
  readonly #waiting = new Map<string, Set<(value: unknown) => void>>();

  notify(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake(undefined);
  }

  async wait(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = deferred<unknown>();
    const cancel = after(Math.max(0, Math.min(ms, LOOK_AGAIN)), () => resolve(undefined));
    const all = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, all.add(resolve));
    signal.addEventListener('abort', resolve, { once: true });
    try {
      await promise;
    } finally {
      cancel();
      signal.removeEventListener('abort', resolve);
      all.delete(resolve);
      if (all.size === 0) this.#waiting.delete(id);
    }
  }
}
