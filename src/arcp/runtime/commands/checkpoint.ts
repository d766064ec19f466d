/** Checkpoints that a client creates and restores (spec 003, "Resumability": "checkpoint snapshots"). */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import type { JobRow } from '../../store/store.js';
import { CHECKPOINTS, latestData, newCheckpoint } from '../context/steps.js';
import type { ConnectionContext } from '../core.js';
import { startJob } from '../engine/jobs.js';
import { traceBelow } from '../events/message.js';
import { JobMessages } from '../job/messages.js';
import { changeOf, inputOf, isIdle, isTerminal, NEW_STATUS, specOf, statusOf } from '../job/spec.js';
import { checkCall } from '../registrations.js';
import { inlineWorkflow } from '../workflow.js';
import {
  acknowledgement,
  assertLive,
  assertNegotiated,
  type CommandResult,
  commandRecord,
  findCommand,
  headerOf,
  ownCheckpoint,
  ownJob,
  resultOf,
} from './command.js';
import { orderElsewhere } from './elsewhere.js';

export async function createCheckpoint(
  connection: ConnectionContext,
  message: Envelope<'checkpoint.create'>,
): Promise<CommandResult> {
  const { engine } = connection;
  const row = await liveJobOf(connection, message);
  const { label } = message.payload;
  const pauses = message.payload.then === 'pause';
  const live = engine.scheduler.find(row.jobId);
  if (live !== undefined) {
    const records = (answerId: string) => [commandRecord(connection, message, { answerId }, row.jobId)];
    const isFirst = await live.checkpointFor({ correlationId: message.id, records }, label);
    if (!isFirst) return { previous: await findCommand(connection, message) };
    if (pauses) live.requeue({ reason: 'pause', as: 'paused', causedBy: message.id });
    return {};
  }
  if (isIdle(row.state)) return checkpointIdle(connection, message, row, pauses);
  const order = { kind: 'checkpoint', command: headerOf(connection, message), label, pauses } as const;
  return (await orderElsewhere(connection, row, order)) ? {} : createCheckpoint(connection, message);
}

async function checkpointIdle(
  connection: ConnectionContext,
  message: Envelope<'checkpoint.create'>,
  row: JobRow,
  pauses: boolean,
): Promise<CommandResult> {
  const { engine } = connection;
  const { log, store } = engine;
  const spec = specOf(row);
  const status = statusOf(row);
  const messages = new JobMessages(log, row, spec);
  const sequence = (status.checkpoints ?? 0) + 1;
  const { checkpointId, event, record } = newCheckpoint(messages, row, spec, {
    sequence,
    data: await latestData(store, status),
    options: { label: message.payload.label },
    correlationId: message.id,
  });
  const isPaused = pauses && row.state !== 'paused';
  const set = {
    status: JSON.stringify({ ...status, checkpointId, checkpoints: sequence }),
    ...(isPaused ? { state: 'paused' as const } : {}),
  };
  const result = await log.commit({
    records: [record, commandRecord(connection, message, { answerId: event.id }, row.jobId)],
    jobs: [changeOf(row, set, [row.state])],
    events: [event, ...(isPaused ? [messages.moved(row.state, 'paused', 'pause', {}, message.id)] : [])],
  });
  return resultOf(result, (found) => checkpointIdle(connection, message, found, pauses));
}

export async function restoreCheckpoint(
  connection: ConnectionContext,
  message: Envelope<'checkpoint.restore'>,
): Promise<CommandResult> {
  const { engine } = connection;
  assertNegotiated(connection, 'checkpoints', 'Checkpoints were');
  const { checkpoint_id: checkpointId, new_job: asNew = false } = message.payload;
  const { row, value } = await ownCheckpoint(connection, checkpointId, message.job_id);
  if (asNew) return restoreAsNew(connection, message, row, checkpointId, value);
  if (isTerminal(row.state))
    throw new ArcpError(
      'FAILED_PRECONDITION',
      `The job is ${row.state}; set new_job to start another one from the checkpoint`,
      {
        details: { state: row.state },
      },
    );
  const { events, records } = acknowledgement(connection, message, row.jobId);
  const live = engine.scheduler.find(row.jobId);
  const request = { reason: 'restore', as: 'queued', causedBy: message.id } as const;
  if (live !== undefined) {
    const isFirst = await live.restart({ checkpointId }, { events, records }, request);
    return isFirst ? {} : { previous: await findCommand(connection, message) };
  }
  if (!isIdle(row.state)) {
    const order = { kind: 'restart', change: { checkpointId }, entry: { events, records }, request } as const;
    return (await orderElsewhere(connection, row, order)) ? {} : restoreCheckpoint(connection, message);
  }
  const messages = new JobMessages(engine.log, row, specOf(row));
  const moved = row.state === 'paused' ? [messages.moved('paused', 'queued', 'restore', {}, message.id)] : [];
  const again = { attempt: row.attempt, causedBy: moved[0]?.id ?? message.id };
  const status = JSON.stringify({ ...statusOf(row), checkpointId, again });
  const result = await engine.log.commit({
    records,
    events: [...events, ...moved],
    jobs: [changeOf(row, { status, state: 'queued' })],
  });
  if (result.outcome === 'done') engine.scheduler.wake();
  return resultOf(result, () => restoreCheckpoint(connection, message));
}

/** Starts another job of the same command from the checkpoint. It does not share the steps of the first. */
async function restoreAsNew(
  connection: ConnectionContext,
  message: Envelope<'checkpoint.restore'>,
  row: JobRow,
  checkpointId: string,
  checkpoint: string,
): Promise<CommandResult> {
  const { engine, session, core } = connection;
  const previous = specOf(row);
  const command = { ...previous.command, id: message.id, trace_id: message.trace_id, span_id: message.span_id };
  if (core.isDraining()) throw new ArcpError('UNAVAILABLE', 'The runtime is shutting down');
  const { kind, target } = previous;
  const work = core.find(kind, target) ?? inlineWorkflow(previous.command);
  await checkCall(work, { kind, name: target, trust: session.trust, input: inputOf(previous.command) });
  const result = await startJob(engine, {
    sessionId: session.id,
    principal: session.principal,
    options: work!.options,
    spec: { ...previous, command, trace: traceBelow(message), trust: session.trust },
    status: { ...NEW_STATUS, checkpointId },
    maxQueued: core.settings.maxJobs,
    with: ({ jobId, accepted }) => ({
      records: [
        commandRecord(connection, message, { answerId: accepted.id, jobId }, jobId),
        // A copy, since the new job may outlive the one with the checkpoint.
        { scope: CHECKPOINTS, key: checkpointId, value: checkpoint, owner: jobId },
      ],
    }),
  });
  return result.outcome === 'conflict' ? { previous: result.found } : {};
}

async function liveJobOf(connection: ConnectionContext, { job_id }: Envelope): Promise<JobRow> {
  assertNegotiated(connection, 'checkpoints', 'Checkpoints were');
  if (job_id === undefined) throw new ArcpError('INVALID_ARGUMENT', 'job_id is required; it names the job');
  const row = await ownJob(connection, job_id);
  assertLive(row);
  if (!specOf(row).isDurable) throw new ArcpError('NOT_FOUND', 'The job does not exist');
  return row;
}
