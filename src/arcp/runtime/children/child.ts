/** Work that is done for other work: agents, workflows and tools, as jobs of their own (spec 003, "Multi-Agent Coordination"). */

import { mayGoUnheard } from '../../../async/unheard.js';
import { sha256Hex } from '../../../text/sha256.js';
import { ArcpError } from '../../protocol/errors.js';
import { newSpanId } from '../../protocol/ids.js';
import { assertJson, canonicalJson } from '../../protocol/kept-json.js';
import type { RecordChange } from '../../store/store.js';
import type { Work } from '../contract.js';
import type { Attempt } from '../jobs/attempt.js';
import { inputOf } from '../jobs/input.js';
import { resolveRetry } from '../jobs/retry.js';
import { deeper, type StartingCommand } from '../jobs/spec.js';
import { type KeptLease, leaseOf, leaseRecord, leasesOf } from '../permissions/lease.js';
import { judge } from '../works.js';
import type { ChildJob, ChildOptions } from './contract.js';

/** Where it stands which jobs a job has begun. */
export const childrenOf = (jobId: string): string => `child:${jobId}`;

type Payload = StartingCommand['payload'];

/** @throws ArcpError `NOT_FOUND`, `PERMISSION_DENIED`, `INVALID_ARGUMENT` */
export async function startChild<R>(
  attempt: Attempt,
  type: StartingCommand['type'],
  payload: Payload,
  { key, permissions = [], timeoutMs }: ChildOptions,
): Promise<ChildJob<R>> {
  const { row, spec, voice, log } = attempt;
  assertJson(payload, `the ${type}`);
  const scope = childrenOf(row.jobId);
  const place = `${attempt.stepPrefix}${key ?? digestOf(type, payload)}`;
  const former = await log.store.readRecord(scope, place);
  if (former !== undefined) return childOf(attempt, former.value);
  attempt.signal.throwIfAborted();
  const depth = deeper(spec);
  const trace = { traceId: spec.trace.traceId, spanId: newSpanId(), parentSpanId: spec.trace.spanId };
  const told = voice.event(type, payload as never, { trace });
  const command = JSON.parse(told.body) as StartingCommand;
  const work = attempt.find(...targetOf(command));
  await judge(work, {
    ...{ kind: work?.kind ?? 'tool', name: targetOf(command)[1] },
    trust: spec.trust,
    input: inputOf(command),
  });
  const inherited = await inheritedLeases(attempt, permissions);
  let jobId: string | undefined;
  const result = await attempt.startChild({
    ...{ sessionId: row.sessionId, principal: row.principal, options: work!.options },
    spec: {
      ...{ kind: work!.kind, target: work!.name, isDurable: spec.isDurable, command, trace, trust: spec.trust },
      ...{ retry: resolveRetry(work!.options.retry), streams: spec.streams, parentJobId: row.jobId },
      ...(spec.limits === undefined ? {} : { limits: spec.limits }),
      ...{ contextId: spec.contextId ?? row.jobId, depth, mayHandOff: spec.mayHandOff },
      ...timeout(timeoutMs, work!.options.timeoutMs),
    },
    ...{ maxQueued: Number.POSITIVE_INFINITY, now: attempt.permissions.now },
    with: (child) => {
      jobId = child.jobId;
      const records: RecordChange[] = [
        { scope, key: place, value: child.jobId, expect: 0, owner: row.jobId },
        ...inherited.map(([leaseId, lease]) => leaseRecord(child.jobId, leaseId, lease, 0)),
      ];
      // Whoever has lost the job must not begin anything for it.
      return { records, events: [told], jobs: [{ jobId: row.jobId, attempt: row.attempt, set: {} }] };
    },
  });
  if (result.outcome === 'conflict' && result.found !== undefined) return childOf(attempt, result.found.value);
  if (result.outcome !== 'done') throw new ArcpError('ABORTED', 'This attempt at the job is over');
  return childOf(attempt, jobId!);
}

export function targetOf(command: StartingCommand): [Work['kind'], string] {
  if (command.type === 'tool.invoke') return ['tool', command.payload.tool];
  if (command.type === 'workflow.start') return ['workflow', command.payload.workflow];
  return ['agent', command.payload.target];
}

function childOf<R>(attempt: Attempt, jobId: string): ChildJob<R> {
  return {
    jobId: attempt.spec.isDurable ? jobId : undefined,
    result: () => mayGoUnheard(attempt.wait({ reason: 'child' }, () => attempt.outcomeOf(jobId) as Promise<R>)),
  };
}

function digestOf(type: string, payload: Payload): string {
  return sha256Hex(canonicalJson([type, payload]));
}

/** Grants that hold now, and go on to a child. */
async function inheritedLeases(
  { row, log, permissions }: Attempt,
  names: readonly string[],
): Promise<[leaseId: string, KeptLease][]> {
  if (names.length === 0) return [];
  const records = await log.store.listRecords(leasesOf(row.jobId), { limit: Number.POSITIVE_INFINITY });
  return records.flatMap((record): [string, KeptLease][] => {
    const lease = leaseOf(record);
    const holds = lease.expiresAt > permissions.now() && lease.maxUses === undefined;
    return holds && names.includes(lease.permission) ? [[record.key, lease]] : [];
  });
}

function timeout(wanted: number | undefined, bound: number | undefined): { readonly timeoutMs?: number } {
  const both = [wanted, bound].filter((ms) => ms !== undefined);
  return both.length === 0 ? {} : { timeoutMs: Math.min(...both) };
}
