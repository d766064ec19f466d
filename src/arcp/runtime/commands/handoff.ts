/** Handoff of a job to another agent, at the request of a client (spec 003, "Multi-Agent Coordination"). */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import type { ConnectionContext } from '../core.js';
import { JobMessages } from '../job/messages.js';
import { changeOf, inputOf, isIdle, specOf, statusOf } from '../job/spec.js';
import { checkCall } from '../registrations.js';
import {
  acknowledgement,
  assertLive,
  assertNegotiated,
  type CommandResult,
  findCommand,
  ownJob,
  resultOf,
} from './command.js';
import { orderElsewhere } from './elsewhere.js';

export async function handoff(
  connection: ConnectionContext,
  message: Envelope<'agent.handoff'>,
): Promise<CommandResult> {
  const { engine, session, core } = connection;
  const { log, scheduler } = engine;
  assertNegotiated(connection, 'agent_handoff', 'Handoff was');
  const { target, reason } = message.payload;
  const jobId = message.payload.job_id ?? message.job_id;
  if (target === undefined)
    throw new ArcpError('UNIMPLEMENTED', 'Handoff to other runtimes is not supported; name a target');
  if (jobId === undefined) throw new ArcpError('INVALID_ARGUMENT', 'job_id is required; it names the job');
  const row = await ownJob(connection, jobId);
  const spec = specOf(row);
  assertLive(row);
  if (spec.kind !== 'agent' || !spec.isDurable)
    throw new ArcpError('FAILED_PRECONDITION', 'Only the durable job of an agent can be handed off');
  const input = inputOf(spec.command);
  await checkCall(core.find('agent', target), { kind: 'agent', name: target, trust: session.trust, input });
  const status = statusOf(row);
  const from = status.agent ?? spec.target;
  const messages = new JobMessages(log, row, spec);
  const { events, records } = acknowledgement(connection, message, jobId);
  const transferred = messages.event(
    'event.emit',
    { name: 'arcp.agent.transferred', attributes: { from, to: target, reason } },
    { causationId: message.id },
  );
  const entry = { records, events: [...events, transferred] };
  const change = { agent: target, handedOver: { from, reason } };
  const live = scheduler.find(jobId);
  const request = { reason: 'handoff', as: 'queued', causedBy: message.id } as const;
  if (live !== undefined) {
    const isFirst = await live.restart(change, entry, request);
    return isFirst ? {} : { previous: await findCommand(connection, message) };
  }
  if (!isIdle(row.state)) {
    const order = { kind: 'restart', change, entry, request } as const;
    return (await orderElsewhere(connection, row, order)) ? {} : handoff(connection, message);
  }
  const set = { status: JSON.stringify({ ...status, ...change }) };
  const result = await log.commit({ ...entry, jobs: [changeOf(row, set)] });
  return resultOf(result, () => handoff(connection, message));
}
