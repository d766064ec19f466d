/** Child jobs and handoffs (spec 003, "Multi-Agent Coordination"). */

import { assertDurations } from '../../../async/durations.js';
import { ignoreRejection } from '../../../async/listeners.js';
import { sha256Hex } from '../../../text/sha256.js';
import { ArcpError } from '../../protocol/errors.js';
import { newSpanId } from '../../protocol/ids.js';
import { assertJson, canonicalJson } from '../../protocol/json.js';
import type { RecordChange } from '../../store/store.js';
import type { Attempt } from '../job/attempt.js';
import { inputOf, nextDepth, resolveRetry, type StartingCommand, shorter } from '../job/spec.js';
import { leaseOf, leaseRecord, leasesOf, type StoredLease } from '../permissions/leases.js';
import { checkCall } from '../registrations.js';
import type { ChildJob, ChildOptions, HandoffOptions, Registration } from '../types.js';

export const childrenOf = (jobId: string): string => `child:${jobId}`;

type Payload = StartingCommand['payload'];

export async function startChild<R>(
  attempt: Attempt,
  type: StartingCommand['type'],
  payload: Payload,
  { key, permissions = [], timeoutMs }: ChildOptions,
): Promise<ChildJob<R>> {
  const { row, spec, messages, log } = attempt;
  assertJson(payload, `the ${type}`);
  assertDurations({ timeoutMs });
  const scope = childrenOf(row.jobId);
  const childKey = `${attempt.stepPrefix}${key ?? sha256Hex(canonicalJson([type, payload]))}`;
  const existing = await log.store.readRecord(scope, childKey);
  if (existing !== undefined) return childOf(attempt, existing.value);
  attempt.signal.throwIfAborted();
  const depth = nextDepth(spec);
  const trace = { traceId: spec.trace.traceId, spanId: newSpanId(), parentSpanId: spec.trace.spanId };
  const started = messages.event(type, payload as never, { trace });
  const command = JSON.parse(started.body) as StartingCommand;
  const [kind, name] = targetOf(command);
  const registration = attempt.host.find(kind, name);
  await checkCall(registration, { kind, name, trust: spec.trust, input: inputOf(command) });
  const inherited = await inheritedLeases(attempt, permissions);
  let jobId: string | undefined;
  const result = await attempt.host.startChild({
    sessionId: row.sessionId,
    principal: row.principal,
    options: registration!.options,
    spec: {
      kind,
      target: name,
      isDurable: spec.isDurable,
      command,
      trace,
      trust: spec.trust,
      retry: resolveRetry(registration!.options.retry),
      streams: spec.streams,
      parentJobId: row.jobId,
      limits: spec.limits,
      contextId: spec.contextId ?? row.jobId,
      depth,
      mayHandOff: spec.mayHandOff,
      timeoutMs: shorter(timeoutMs, registration!.options.timeoutMs),
    },
    maxQueued: Number.POSITIVE_INFINITY,
    with: (child) => {
      jobId = child.jobId;
      const records: RecordChange[] = [
        { scope, key: childKey, value: child.jobId, expect: 0, owner: row.jobId },
        ...inherited.map(([leaseId, lease]) => leaseRecord(child.jobId, leaseId, lease, 0)),
      ];
      // The commit is fenced, so that a worker that has lost the job starts no child.
      return { records, events: [started], jobs: [{ jobId: row.jobId, attempt: row.attempt, set: {} }] };
    },
  });
  if (result.outcome === 'conflict' && result.found !== undefined) return childOf(attempt, result.found.value);
  if (result.outcome !== 'done')
    throw new ArcpError('ABORTED', 'The attempt has ended, since the job continues elsewhere or has ended');
  return childOf(attempt, jobId!);
}

export function targetOf(command: StartingCommand): [Registration['kind'], string] {
  if (command.type === 'tool.invoke') return ['tool', command.payload.tool];
  if (command.type === 'workflow.start') return ['workflow', command.payload.workflow];
  return ['agent', command.payload.target];
}

function childOf<R>(attempt: Attempt, jobId: string): ChildJob<R> {
  return {
    jobId: attempt.spec.isDurable ? jobId : undefined,
    result: () => ignoreRejection(attempt.wait({ reason: 'child' }, () => attempt.host.outcomeOf(jobId) as Promise<R>)),
  };
}

async function inheritedLeases(
  { row, log, host }: Attempt,
  names: readonly string[],
): Promise<[leaseId: string, StoredLease][]> {
  if (names.length === 0) return [];
  const records = await log.store.listRecords(leasesOf(row.jobId), { limit: Number.POSITIVE_INFINITY });
  return records.flatMap((record): [string, StoredLease][] => {
    const lease = leaseOf(record);
    const isInheritable = lease.expiresAt > host.now() && lease.maxUses === undefined;
    return isInheritable && names.includes(lease.permission) ? [[record.key, lease]] : [];
  });
}

const MAX_HANDOFFS = 100;

/** Continues the job with another agent, from its latest checkpoint. Always throws: the abort reason, or the error that prevents the handoff. */
export function handOff(attempt: Attempt, target: string, options: HandoffOptions = {}): Promise<never> {
  // Serializes handoffs. A step cannot have this key.
  return attempt.once('\0handoff', () => transfer(attempt, target, options));
}

async function transfer(attempt: Attempt, target: string, options: HandoffOptions): Promise<never> {
  const { spec, work, messages, row, status } = attempt;
  const { reason, permissions = [] } = options;
  assertMayHandOff(attempt);
  const input = inputOf(spec.command);
  await checkCall(attempt.host.find('agent', target), { kind: 'agent', name: target, trust: spec.trust, input });
  const events = [
    messages.event('agent.handoff', {
      target,
      job_id: row.jobId,
      reason,
      checkpoint_id: status.checkpointId,
      shared_context_id: spec.contextId ?? row.jobId,
      permissions: [...permissions],
    }),
    messages.event('event.emit', {
      name: 'arcp.agent.transferred',
      attributes: { from: work.name, to: target, reason },
    }),
  ];
  const records = await droppedLeases(attempt, permissions);
  const handoffs = (status.handoffs ?? 0) + 1;
  const changed = attempt.changeStatus({ agent: target, handedOver: { from: work.name, reason }, handoffs });
  await attempt.outbox.add({ events, records, set: { status: changed } });
  attempt.requeue({ reason: 'handoff', as: 'queued' });
  throw attempt.signal.reason;
}

function assertMayHandOff({ spec, isCall, status }: Attempt): void {
  if ((status.handoffs ?? 0) >= MAX_HANDOFFS)
    throw new ArcpError('RESOURCE_EXHAUSTED', `The job was handed off ${MAX_HANDOFFS} times, which is the limit`, {
      retryable: false,
    });
  if (spec.mayHandOff !== true) throw new ArcpError('UNIMPLEMENTED', 'Handoff was not negotiated');
  if (spec.kind !== 'agent' || isCall || !spec.isDurable)
    throw new ArcpError('FAILED_PRECONDITION', 'Only the durable job of an agent can be handed off');
}

/** Returns the removals of leases whose permission is not named. */
async function droppedLeases({ row, log }: Attempt, retained: readonly string[]): Promise<RecordChange[]> {
  const scope = leasesOf(row.jobId);
  const records = await log.store.listRecords(scope, { limit: Number.POSITIVE_INFINITY });
  return records
    .filter((record) => !retained.includes(leaseOf(record).permission))
    .map(({ key }) => ({ scope, key, value: null }));
}
