/** Work that one agent takes over from another (spec 003, "Multi-Agent Coordination"). */
import { ArcpError } from '../../protocol/errors.js';
import type { RecordChange } from '../../store/store.js';
import type { Attempt } from '../jobs/attempt.js';
import { inputOf } from '../jobs/input.js';
import { leaseOf, leasesOf } from '../permissions/lease.js';
import { judge } from '../works.js';
import type { HandoffOptions } from './contract.js';

/** How often a job is handed over. */
const MOST_HANDOFFS = 100;

/**
 * The work goes on with another agent, as the same job: from its latest checkpoint, with all that was done once. Nothing more is said
 * by who gives it away.
 *
 * @throws always: what the signal is aborted with, or an ArcpError where it cannot be given away
 */
export function handOff(attempt: Attempt, target: string, options: HandoffOptions = {}): Promise<never> {
  // Only one can be given the work: whoever asks meanwhile has left, too. No step has such a key.
  return attempt.once('\0handoff', () => giveAway(attempt, target, options));
}

async function giveAway(attempt: Attempt, target: string, options: HandoffOptions): Promise<never> {
  const { spec, work, voice, row, status } = attempt;
  const { reason, permissions = [] } = options;
  assertMayGo(attempt);
  const input = inputOf(spec.command);
  await judge(attempt.find('agent', target), { kind: 'agent', name: target, trust: spec.trust, input });
  const why = reason === undefined ? {} : { reason };
  const checkpoint = status.checkpointId === undefined ? {} : { checkpoint_id: status.checkpointId };
  const events = [
    voice.event('agent.handoff', {
      ...{ target, job_id: row.jobId, ...why, ...checkpoint },
      ...{ shared_context_id: spec.contextId ?? row.jobId, permissions: [...permissions] },
    }),
    voice.event('event.emit', { name: 'arcp.agent.transferred', attributes: { from: work.name, to: target, ...why } }),
  ];
  const records = await droppedLeases(attempt, permissions);
  const handoffs = (status.handoffs ?? 0) + 1;
  const changed = attempt.changeStatus({ agent: target, handedOver: { from: work.name, reason }, handoffs });
  await attempt.outbox.add({ events, records, set: { status: changed } });
  attempt.leave({ reason: 'handoff', as: 'queued' });
  throw attempt.signal.reason;
}

/** @throws ArcpError `UNIMPLEMENTED`, `FAILED_PRECONDITION` */
function assertMayGo({ spec, isCall, status }: Attempt): void {
  if ((status.handoffs ?? 0) >= MOST_HANDOFFS)
    throw new ArcpError('RESOURCE_EXHAUSTED', `The job was handed over ${MOST_HANDOFFS} times`, { retryable: false });
  if (spec.mayHandOff !== true) throw new ArcpError('UNIMPLEMENTED', 'Handoff was not negotiated');
  if (spec.kind !== 'agent' || isCall || !spec.isDurable)
    throw new ArcpError('FAILED_PRECONDITION', 'Only agents with a job of their own hand it over');
}

/** Grants are not handed over unless they are named. */
async function droppedLeases({ row, log }: Attempt, kept: readonly string[]): Promise<RecordChange[]> {
  const scope = leasesOf(row.jobId);
  const records = await log.store.listRecords(scope, { limit: Number.POSITIVE_INFINITY });
  return records
    .filter((record) => !kept.includes(leaseOf(record).permission))
    .map(({ key }) => ({ scope, key, value: null }));
}
