/** Permission requests of a job (spec 003, "Permissions": the challenge and its response). */
import { assertDurations } from '../../../async/durations.js';
import { ArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { NewEvent, RecordChange } from '../../store/store.js';
import type { Attempt } from '../job/attempt.js';
import {
  allows,
  assertAllows,
  expiryOf,
  leaseOf,
  leaseRecord,
  leasesOf,
  REQUESTS,
  requestOf,
  requestRecord,
  requestsOf,
  type StoredLease,
  type StoredRequest,
} from '../permissions/leases.js';
import {
  DEFAULT_LEASE_MS,
  describeScope,
  isNamed,
  type Policy,
  permissionDenied,
  scopeOf,
} from '../permissions/policy.js';
import type { Lease, PermissionRequest, Scope } from '../types.js';

/** Requests a permission, unless a lease of this job or session covers it. */
export async function requestPermission(attempt: Attempt, request: PermissionRequest): Promise<Lease> {
  const { work } = attempt;
  if (!isNamed(work.options.permissions ?? [], request.permission))
    throw permissionDenied(request, `the ${work.kind} ${work.name} does not list it in permissions`);
  assertDurations({ leaseMs: request.leaseMs });
  const key = keyOf(request);
  // Equal concurrent requests share one message. A step cannot have this key.
  return attempt.once(`\0permission ${key}`, () => obtain(attempt, request, key));
}

async function obtain(attempt: Attempt, request: PermissionRequest, key: string): Promise<Lease> {
  const { spec, host } = attempt;
  const existing = await findLease(attempt, request);
  if (existing !== undefined) return existing;
  const earlier = await attempt.log.store.readRecord(requestsOf(attempt.row.jobId), key);
  if (earlier !== undefined) {
    const lease = await resumeRequest(attempt, request, earlier.value);
    if (lease !== undefined) return lease;
  }
  const { principal } = attempt.row;
  const decision = host.policy.decide(scopeOf(request), { trust: spec.trust, principal, target: spec.target });
  if (decision === 'deny')
    throw permissionDenied(request, `the policy denies it to ${spec.trust} sessions`, { reason: 'policy' });
  if (decision === 'challenge') return challenge(attempt, request, key);
  return allow(attempt, request, decision === 'audit');
}

function leaseMsOf({ leaseMs = DEFAULT_LEASE_MS }: PermissionRequest, { maxLeaseMs }: Policy): number {
  return Math.min(leaseMs, maxLeaseMs);
}

function keyOf({ permission, resource = '', operation = '', key = '' }: PermissionRequest): string {
  return JSON.stringify([permission, resource, operation, key]);
}

async function findLease(attempt: Attempt, request: PermissionRequest): Promise<Lease | undefined> {
  const { row, log, host } = attempt;
  for (const owner of [row.jobId, row.sessionId])
    for (const record of await log.store.listRecords(leasesOf(owner), { limit: Number.POSITIVE_INFINITY }))
      if (allows(leaseOf(record), request, host.now())) return toLease(attempt, request, owner, record.key);
  return undefined;
}

async function allow(attempt: Attempt, request: PermissionRequest, isAudited: boolean): Promise<Lease> {
  const { outbox, row, host } = attempt;
  const leaseMs = leaseMsOf(request, host.policy);
  const lease: StoredLease = {
    ...scopeOf(request),
    expiresAt: host.now() + leaseMs,
    uses: 0,
    grantedBy: 'policy',
    ...(isAudited ? { isAudited } : {}),
  };
  const leaseId = newId('lease');
  await outbox.add({ records: [leaseRecord(row.jobId, leaseId, lease, 0)] });
  return toLease(attempt, request, row.jobId, leaseId);
}

async function challenge(attempt: Attempt, request: PermissionRequest, key: string): Promise<Lease> {
  const { row, messages, host, spec } = attempt;
  const { policy, now } = host;
  const leaseMs = leaseMsOf(request, policy);
  const expiresAt = now() + policy.answerTimeoutMs;
  const event = messages.event('permission.request', {
    ...scopeOf(request),
    requested_lease_seconds: Number.isFinite(leaseMs) ? leaseMs / 1000 : undefined,
    expires_at: expiryOf(attempt.log.now() + policy.answerTimeoutMs),
    trust_level: spec.trust,
    reason: request.reason,
    risk: request.risk,
    arguments_preview: request.preview,
    operation_key: request.key,
  });
  const { jobId, sessionId, principal } = row;
  const common = { jobId, sessionId, principal, wanted: scopeOf(request), expiresAt, leaseMs };
  const stored: StoredRequest = { ...common, state: 'pending' };
  const records: RecordChange[] = [
    requestRecord(event.id, stored, 0),
    { scope: requestsOf(jobId), key, value: event.id, owner: jobId },
  ];
  const lease = await wait(attempt, request, event.id, [event], records);
  if (lease === undefined) throw new ArcpError('ABORTED', 'The grant expired before it could be used');
  return lease;
}

/** Waits for the answer to the request of an earlier attempt; returns `undefined` if a new request is needed. */
async function resumeRequest(
  attempt: Attempt,
  request: PermissionRequest,
  requestId: string,
): Promise<Lease | undefined> {
  const record = await attempt.log.store.readRecord(REQUESTS, requestId);
  if (record === undefined) return undefined;
  const { state, reason } = requestOf(record);
  if (state === 'denied') throw refused(request, reason);
  if (state !== 'pending') return undefined;
  return wait(attempt, request, requestId, [], []);
}

async function wait(
  attempt: Attempt,
  request: PermissionRequest,
  requestId: string,
  events: readonly NewEvent[],
  records: readonly RecordChange[],
): Promise<Lease | undefined> {
  const stored = await attempt.wait(
    {
      reason: 'permission',
      events,
      records,
      continuedBy: ({ answeredBy, state }) => ({
        causedBy: answeredBy,
        attributes: { request_id: requestId, decision: state },
      }),
    },
    () => untilAnswered(attempt, requestId),
  );
  if (stored.state === 'denied') throw refused(request, stored.reason);
  if (stored.state === 'expired')
    throw new ArcpError('DEADLINE_EXCEEDED', `${describeScope(request)}: the request was not answered in time`, {
      retryable: false,
    });
  if (stored.leaseId === undefined) return undefined;
  return toLease(attempt, request, stored.leaseOwner ?? attempt.row.jobId, stored.leaseId);
}

async function untilAnswered({ log, host, signal, outbox }: Attempt, requestId: string): Promise<StoredRequest> {
  const { now, answers, policy } = host;
  // The stored time may come from another process's clock; the timeout bounds the wait.
  const latest = now() + policy.answerTimeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const record = await log.store.readRecord(REQUESTS, requestId);
    if (record === undefined) throw new ArcpError('DATA_LOSS', 'The permission request is no longer stored');
    const stored = requestOf(record);
    if (stored.state !== 'pending') return stored;
    const remainingMs = Math.min(stored.expiresAt, latest) - now();
    if (remainingMs > 0) await answers.wait(requestId, remainingMs, signal);
    else {
      // This conflicts if an answer was stored meanwhile, which the next iteration reads.
      await outbox.tryAdd({ records: [requestRecord(requestId, { ...stored, state: 'expired' }, record.version)] });
    }
  }
}

function refused(request: Scope, reason: string | undefined): ArcpError {
  return permissionDenied(request, reason ?? 'the request was denied', { reason: 'denied' });
}

async function toLease(attempt: Attempt, request: Scope, owner: string, leaseId: string): Promise<Lease> {
  const { log, host, outbox, messages, signal } = attempt;
  const scope = leasesOf(owner);
  const found = await log.store.readRecord(scope, leaseId);
  if (found === undefined)
    throw new ArcpError('LEASE_EXPIRED', 'The lease is no longer stored; request the permission again');
  const { expiresAt, constraints } = leaseOf(found);
  const use = async (part: Partial<Scope> = {}): Promise<void> => {
    const exact = { ...scopeOf(request), ...part, permission: request.permission };
    for (;;) {
      signal.throwIfAborted();
      const record = await log.store.readRecord(scope, leaseId);
      if (record === undefined)
        throw new ArcpError('LEASE_EXPIRED', 'The lease is no longer stored; request the permission again');
      const lease = leaseOf(record);
      assertAllows(lease, exact, host.now());
      const isCounted = lease.maxUses !== undefined;
      if (!isCounted && lease.isAudited !== true) return;
      const events = lease.isAudited === true ? audit(messages, exact, leaseId) : [];
      const used = { ...lease, uses: lease.uses + 1 };
      const records = isCounted ? [leaseRecord(owner, leaseId, used, record.version)] : [];
      if (await outbox.tryAdd({ events, records })) return;
    }
  };
  return { ...scopeOf(request), leaseId, expiresAt, constraints, use };
}

function audit(messages: Attempt['messages'], used: Scope, leaseId: string): NewEvent[] {
  const attributes = { ...used, lease_id: leaseId };
  return [
    messages.event('event.emit', { name: 'arcp.permission.used', attributes }),
    messages.event('log', { level: 'info', message: `used ${describeScope(used)}`, attributes }),
  ];
}
