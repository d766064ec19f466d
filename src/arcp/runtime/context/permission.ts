/** How work comes by what it needs (spec 003, "Permissions": the challenge and its response). */
import { assertDurations } from '../../protocol/durations.js';
import { ArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { NewEvent, RecordChange } from '../../store/store.js';
import type { Attempt } from '../job/attempt.js';
import {
  allows,
  askedBy,
  assertAllows,
  expiryOf,
  type KeptLease,
  type KeptRequest,
  leaseOf,
  leaseRecord,
  leasesOf,
  REQUESTS,
  requestOf,
  requestRecord,
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

/** Requests a permission, unless a grant of this job or session covers it. */
export async function askFor(attempt: Attempt, wish: PermissionRequest): Promise<Lease> {
  const { work } = attempt;
  if (!isNamed(work.options.permissions ?? [], wish.permission))
    throw permissionDenied(wish, `the ${work.kind} ${work.name} does not declare it`);
  assertDurations({ leaseMs: wish.leaseMs });
  const key = keyOf(wish);
  // Equal requests share one question; no step has such a key.
  return attempt.once(`\0permission ${key}`, () => obtain(attempt, wish, key));
}

async function obtain(attempt: Attempt, wish: PermissionRequest, key: string): Promise<Lease> {
  const { spec, host } = attempt;
  const held = await heldLease(attempt, wish);
  if (held !== undefined) return held;
  const asked = await attempt.log.store.readRecord(askedBy(attempt.row.jobId), key);
  if (asked !== undefined) {
    const lease = await answered(attempt, wish, asked.value);
    if (lease !== undefined) return lease;
  }
  const { principal } = attempt.row;
  const decision = host.policy.decide(scopeOf(wish), { trust: spec.trust, principal, target: spec.target });
  if (decision === 'deny')
    throw permissionDenied(wish, `it is not for sessions that are ${spec.trust}`, { reason: 'policy' });
  if (decision === 'challenge') return challenge(attempt, wish, key);
  return allow(attempt, wish, decision === 'audit');
}

function leaseMsOf({ leaseMs = DEFAULT_LEASE_MS }: PermissionRequest, { maxLeaseMs }: Policy): number {
  return Math.min(leaseMs, maxLeaseMs);
}

function keyOf({ permission, resource = '', operation = '', key = '' }: PermissionRequest): string {
  return JSON.stringify([permission, resource, operation, key]);
}

async function heldLease(attempt: Attempt, wish: PermissionRequest): Promise<Lease | undefined> {
  const { row, log, host } = attempt;
  for (const owner of [row.jobId, row.sessionId])
    for (const record of await log.store.listRecords(leasesOf(owner), { limit: Number.POSITIVE_INFINITY }))
      if (allows(leaseOf(record), wish, host.now())) return handle(attempt, wish, owner, record.key);
  return undefined;
}

async function allow(attempt: Attempt, wish: PermissionRequest, isAudited: boolean): Promise<Lease> {
  const { outbox, row, host } = attempt;
  const leaseMs = leaseMsOf(wish, host.policy);
  const lease: KeptLease = {
    ...scopeOf(wish),
    expiresAt: host.now() + leaseMs,
    uses: 0,
    grantedBy: 'policy',
    ...(isAudited ? { isAudited } : {}),
  };
  const leaseId = newId('lease');
  await outbox.add({ records: [leaseRecord(row.jobId, leaseId, lease, 0)] });
  return handle(attempt, wish, row.jobId, leaseId);
}

async function challenge(attempt: Attempt, wish: PermissionRequest, key: string): Promise<Lease> {
  const { row, messages, host, spec } = attempt;
  const { policy, now } = host;
  const leaseMs = leaseMsOf(wish, policy);
  const expiresAt = now() + policy.answerTimeoutMs;
  const event = messages.event('permission.request', {
    ...scopeOf(wish),
    requested_lease_seconds: Number.isFinite(leaseMs) ? leaseMs / 1000 : undefined,
    expires_at: expiryOf(attempt.log.now() + policy.answerTimeoutMs),
    trust_level: spec.trust,
    reason: wish.reason,
    risk: wish.risk,
    arguments_preview: wish.preview,
    operation_key: wish.key,
  });
  const { jobId, sessionId, principal } = row;
  const asked = { jobId, sessionId, principal, wanted: scopeOf(wish), expiresAt, leaseMs };
  const request: KeptRequest = { ...asked, state: 'pending' };
  const records: RecordChange[] = [
    requestRecord(event.id, request, 0),
    { scope: askedBy(jobId), key, value: event.id, owner: jobId },
  ];
  const lease = await wait(attempt, wish, event.id, [event], records);
  if (lease === undefined) throw new ArcpError('ABORTED', 'The grant has expired before it was used');
  return lease;
}

/** Returns the grant of an earlier attempt's request, unless it must be requested again. */
async function answered(attempt: Attempt, wish: PermissionRequest, requestId: string): Promise<Lease | undefined> {
  const record = await attempt.log.store.readRecord(REQUESTS, requestId);
  if (record === undefined) return undefined;
  const { state, reason } = requestOf(record);
  if (state === 'denied') throw refused(wish, reason);
  if (state !== 'pending') return undefined;
  return wait(attempt, wish, requestId, [], []);
}

async function wait(
  attempt: Attempt,
  wish: PermissionRequest,
  requestId: string,
  events: readonly NewEvent[],
  records: readonly RecordChange[],
): Promise<Lease | undefined> {
  const request = await attempt.wait(
    {
      reason: 'permission',
      events,
      records,
      continuedBy: ({ answeredBy, state }) => ({
        causedBy: answeredBy,
        attributes: { request_id: requestId, decision: state },
      }),
    },
    () => settled(attempt, requestId),
  );
  if (request.state === 'denied') throw refused(wish, request.reason);
  if (request.state === 'expired')
    throw new ArcpError('DEADLINE_EXCEEDED', `${describeScope(wish)}: nobody has answered in time`, {
      retryable: false,
    });
  if (request.leaseId === undefined) return undefined;
  return handle(attempt, wish, request.leaseOwner ?? attempt.row.jobId, request.leaseId);
}

async function settled({ log, host, signal, outbox }: Attempt, requestId: string): Promise<KeptRequest> {
  const { now, answers, policy } = host;
  // The stored time may be of another process's clock: no wait is longer than its length.
  const latest = now() + policy.answerTimeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const record = await log.store.readRecord(REQUESTS, requestId);
    if (record === undefined) throw new ArcpError('DATA_LOSS', 'The request is not kept any more');
    const request = requestOf(record);
    if (request.state !== 'pending') return request;
    const left = Math.min(request.expiresAt, latest) - now();
    if (left > 0) await answers.wait(requestId, left, signal);
    else {
      // Fails if an answer came meanwhile; then it is read again.
      await outbox.tryAdd({ records: [requestRecord(requestId, { ...request, state: 'expired' }, record.version)] });
    }
  }
}

function refused(wish: Scope, reason: string | undefined): ArcpError {
  return permissionDenied(wish, reason ?? 'it was denied', { reason: 'denied' });
}

async function handle(attempt: Attempt, wish: Scope, owner: string, leaseId: string): Promise<Lease> {
  const { log, host, outbox, messages, signal } = attempt;
  const scope = leasesOf(owner);
  const found = await log.store.readRecord(scope, leaseId);
  if (found === undefined) throw new ArcpError('LEASE_EXPIRED', 'The grant is not kept any more');
  const { expiresAt, constraints } = leaseOf(found);
  const use = async (wanted: Partial<Scope> = {}): Promise<void> => {
    const exact = { ...scopeOf(wish), ...wanted, permission: wish.permission };
    for (;;) {
      signal.throwIfAborted();
      const record = await log.store.readRecord(scope, leaseId);
      if (record === undefined) throw new ArcpError('LEASE_EXPIRED', 'The grant is not kept any more');
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
  return { ...scopeOf(wish), leaseId, expiresAt, constraints, use };
}

function audit(messages: Attempt['messages'], used: Scope, leaseId: string): NewEvent[] {
  const attributes = { ...used, lease_id: leaseId };
  return [
    messages.event('event.emit', { name: 'arcp.permission.used', attributes }),
    messages.event('log', { level: 'info', message: `used ${describeScope(used)}`, attributes }),
  ];
}
