/** Answers to permission requests (spec 003, "Permissions": "Client responds with permission.grant or permission.deny"). */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { newId, parseTimestamp } from '../../protocol/ids.js';
import type { StoredRecord } from '../../store/store.js';
import type { ConnectionContext } from '../core.js';
import { mailTo } from '../mail/mail.js';
import {
  expiryOf,
  leaseRecord,
  REQUESTS,
  requestOf,
  requestRecord,
  type StoredLease,
  type StoredRequest,
} from '../permissions/leases.js';
import { acknowledgement, type CommandResult } from './command.js';

type Answer = Envelope<'permission.grant' | 'permission.deny'>;

export async function answer(connection: ConnectionContext, message: Answer): Promise<CommandResult> {
  const { engine, session, core } = connection;
  const { log, answers, now } = engine;
  const record = await find(connection, message);
  const request = requestOf(record);
  assertOpen(request, message, now());
  // Clients send times of the wall clock; stored times use the clock of the store.
  const aheadMs = core.settings.now() - now();
  const leaseId = newId('lease');
  const lease =
    message.type === 'permission.grant'
      ? granted(request, message, session.principal, { now: now(), aheadMs })
      : undefined;
  const details = lease && { lease_id: leaseId, expires_at: expiryOf(lease.expiresAt + aheadMs) };
  const { events, records } = acknowledgement(connection, message, request.jobId, details);
  const leaseOwner = isForSession(message) ? request.sessionId : request.jobId;
  const stored: StoredRequest = {
    ...request,
    answeredBy: message.id,
    ...(lease === undefined
      ? { state: 'denied', reason: message.type === 'permission.deny' ? message.payload.reason : undefined }
      : { state: 'granted', leaseId, leaseOwner }),
  };
  records.push(requestRecord(record.key, stored, record.version));
  // One record per session, so that its uses are counted together.
  if (lease !== undefined) records.push(leaseRecord(leaseOwner, leaseId, lease, 0));
  const job =
    engine.scheduler.find(request.jobId) === undefined ? await engine.store.readJob(request.jobId) : undefined;
  if (job?.leaseOwner != null) records.push(mailTo(job.leaseOwner, { kind: 'answer', requestId: record.key }));
  const result = await log.commit({ records, events });
  if (result.outcome !== 'conflict') {
    answers.notify(record.key);
    return {};
  }
  if (result.scope !== REQUESTS) return { previous: result.found };
  throw new ArcpError('FAILED_PRECONDITION', 'The permission request has already been answered');
}

/** Finds the request. A request of another principal gives the same error as a missing one. */
async function find({ engine, session }: ConnectionContext, { correlation_id }: Answer): Promise<StoredRecord> {
  if (correlation_id === undefined)
    throw new ArcpError('INVALID_ARGUMENT', 'correlation_id is required; it names the permission request');
  const record = await engine.store.readRecord(REQUESTS, correlation_id);
  if (record === undefined || requestOf(record).principal !== session.principal)
    throw new ArcpError('NOT_FOUND', 'The permission request does not exist', { details: { request: correlation_id } });
  if (session.identity.mayGrant === false)
    throw new ArcpError('PERMISSION_DENIED', 'This client may not answer permission requests');
  return record;
}

function assertOpen({ state, expiresAt, wanted, jobId }: StoredRequest, message: Answer, now: number): void {
  const isExpired = state === 'expired' || (state === 'pending' && now >= expiresAt);
  if (state !== 'pending' || isExpired)
    throw new ArcpError(
      'FAILED_PRECONDITION',
      `The permission request ${isExpired ? 'has expired' : `was already ${state}`}`,
      {
        details: { state: isExpired ? 'expired' : state },
      },
    );
  if (message.job_id !== undefined && message.job_id !== jobId)
    throw new ArcpError('INVALID_ARGUMENT', 'job_id must name the job that made the permission request');
  // Rejects an answer that was meant for another request.
  for (const name of ['permission', 'resource', 'operation'] as const) {
    const given = message.payload[name];
    if (given !== undefined && given !== wanted[name])
      throw new ArcpError('INVALID_ARGUMENT', `${name} must equal that of the request: ${wanted[name] ?? 'absent'}`);
  }
}

function granted(
  { wanted, leaseMs }: StoredRequest,
  { payload, id }: Envelope<'permission.grant'>,
  principal: string,
  { now, aheadMs }: { readonly now: number; readonly aheadMs: number },
): StoredLease {
  const { lease_seconds = leaseMs / 1000, expires_at, max_uses, constraints, granted_by = principal } = payload;
  const byTime = now + Math.min(lease_seconds * 1000, leaseMs);
  const expiresAt = expires_at === undefined ? byTime : Math.min(byTime, parseTimestamp(expires_at) - aheadMs);
  if (expiresAt <= now)
    throw new ArcpError('INVALID_ARGUMENT', 'The grant has already expired; expires_at must be in the future');
  return {
    ...wanted,
    expiresAt,
    uses: 0,
    grantedBy: `${granted_by} ${id}`,
    maxUses: max_uses,
    constraints,
  };
}

function isForSession(message: Answer): boolean {
  return message.type === 'permission.grant' && message.payload.constraints?.['scope'] === 'session';
}
