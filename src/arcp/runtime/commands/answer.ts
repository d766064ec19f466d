/** Answers to requests for permissions (spec 003, "Permissions": "Client responds with permission.grant or permission.deny"). */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { newId, parseTimestamp } from '../../protocol/ids.js';
import type { StoredRecord } from '../../store/store.js';
import type { ConnectionContext } from '../core.js';
import {
  expiryOf,
  type KeptLease,
  type KeptRequest,
  leaseRecord,
  REQUESTS,
  requestOf,
  requestRecord,
} from '../permissions/leases.js';
import { acknowledgement, type CommandResult } from './command.js';

type Answer = Envelope<'permission.grant' | 'permission.deny'>;

export async function answer(connection: ConnectionContext, message: Answer): Promise<CommandResult> {
  const { engine, session, core } = connection;
  const { log, answers, now } = engine;
  const record = await find(connection, message);
  const request = requestOf(record);
  assertOpen(request, message, now());
  // The client sends times of the wall clock; stored times are of the store's clock.
  const aheadMs = core.settings.now() - now();
  const leaseId = newId('lease');
  const lease =
    message.type === 'permission.grant'
      ? granted(request, message, session.principal, { now: now(), aheadMs })
      : undefined;
  const details = lease && { lease_id: leaseId, expires_at: expiryOf(lease.expiresAt + aheadMs) };
  const { events, records } = acknowledgement(connection, message, request.jobId, details);
  const leaseOwner = isForSession(message) ? request.sessionId : request.jobId;
  const answered: KeptRequest = {
    ...request,
    answeredBy: message.id,
    ...(lease === undefined
      ? { state: 'denied', reason: message.type === 'permission.deny' ? message.payload.reason : undefined }
      : { state: 'granted', leaseId, leaseOwner }),
  };
  records.push(requestRecord(record.key, answered, record.version));
  // One record per session, so that its uses are counted together.
  if (lease !== undefined) records.push(leaseRecord(leaseOwner, leaseId, lease, 0));
  const result = await log.commit({ records, events });
  if (result.outcome !== 'conflict') {
    answers.notify(record.key);
    return {};
  }
  if (result.scope !== REQUESTS) return { former: result.found };
  throw new ArcpError('FAILED_PRECONDITION', 'The request has been answered meanwhile');
}

/** The same error for the request of another principal and for none. */
async function find({ engine, session }: ConnectionContext, { correlation_id }: Answer): Promise<StoredRecord> {
  if (correlation_id === undefined)
    throw new ArcpError('INVALID_ARGUMENT', 'correlation_id names the request that is answered');
  const record = await engine.store.readRecord(REQUESTS, correlation_id);
  if (record === undefined || requestOf(record).principal !== session.principal)
    throw new ArcpError('NOT_FOUND', 'There is no such request', { details: { request: correlation_id } });
  if (session.identity.mayGrant === false)
    throw new ArcpError('PERMISSION_DENIED', 'This client may not answer requests for permissions');
  return record;
}

function assertOpen({ state, expiresAt, wanted, jobId }: KeptRequest, message: Answer, now: number): void {
  const isExpired = state === 'expired' || (state === 'pending' && now >= expiresAt);
  if (state !== 'pending' || isExpired)
    throw new ArcpError('FAILED_PRECONDITION', `The request ${isExpired ? 'has expired' : `was ${state}`}`, {
      details: { state: isExpired ? 'expired' : state },
    });
  if (message.job_id !== undefined && message.job_id !== jobId)
    throw new ArcpError('INVALID_ARGUMENT', 'The request is one of another job');
  // An answer to something else was given by mistake.
  for (const name of ['permission', 'resource', 'operation'] as const) {
    const said = message.payload[name];
    if (said !== undefined && said !== wanted[name])
      throw new ArcpError('INVALID_ARGUMENT', `${name}: what was asked for is ${wanted[name] ?? 'without'}`);
  }
}

function granted(
  { wanted, leaseMs }: KeptRequest,
  { payload, id }: Envelope<'permission.grant'>,
  principal: string,
  { now, aheadMs }: { readonly now: number; readonly aheadMs: number },
): KeptLease {
  const { lease_seconds = leaseMs / 1000, expires_at, max_uses, constraints, granted_by = principal } = payload;
  const byTime = now + Math.min(lease_seconds * 1000, leaseMs);
  const expiresAt = expires_at === undefined ? byTime : Math.min(byTime, parseTimestamp(expires_at) - aheadMs);
  if (expiresAt <= now) throw new ArcpError('INVALID_ARGUMENT', 'A grant that has expired grants nothing');
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
