/** Cancellation of jobs and streams, and the end of sessions (spec 003, "Jobs": "Jobs MUST support cancellation", "Sessions"). */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { type JobRow, LIVE_STATES, type StoredRecord } from '../../store/store.js';
import { JOB_OF_STREAM } from '../context/stream.js';
import type { ConnectionContext } from '../core.js';
import { cancelJob, cancelJobsOf, jobsOf, untilEnded } from '../engine/jobs.js';
import { orderTo } from '../mail/order.js';
import { changeSession } from '../sessions/session.js';
import { acknowledgement, ackOf, type CommandResult, findCommand, jobOfCommand } from './command.js';

type Cancel = Envelope<'cancel'>;

export async function cancel(connection: ConnectionContext, message: Cancel): Promise<CommandResult> {
  const { target = message.stream_id === undefined ? 'job' : 'stream' } = message.payload;
  if (target === 'stream') return cancelStream(connection, message);
  return target === 'session' ? cancelSession(connection, message) : cancelOneJob(connection, message);
}

async function cancelOneJob(connection: ConnectionContext, message: Cancel): Promise<CommandResult> {
  const { engine, session } = connection;
  const { reason, deadline_ms: deadlineMs } = message.payload;
  const jobId = await jobOf(connection, message);
  const request = { cause: 'client', reason, deadlineMs } as const;
  const cancelled = await cancelJob(engine, jobId, request, {
    ...acknowledgement(connection, message, jobId),
    check: ({ principal }) => {
      if (principal !== session.principal) throw new ArcpError('NOT_FOUND', 'The job does not exist');
    },
  });
  if (cancelled.outcome === 'conflict') return { previous: cancelled.found };
  return cancelled.outcome === 'ended' ? ended(connection, message, cancelled.row) : {};
}

/** Cancels a stream of the runtime; the job continues. */
async function cancelStream(connection: ConnectionContext, message: Cancel): Promise<CommandResult> {
  const { engine, session } = connection;
  const { reason = 'The stream was cancelled', target_id } = message.payload;
  const streamId = message.stream_id ?? target_id;
  if (streamId === undefined)
    throw new ArcpError('INVALID_ARGUMENT', 'stream_id or target_id is required to cancel a stream');
  const stream = engine.streams.find(streamId, session.principal);
  if (stream !== undefined) {
    const previous = await acknowledge(connection, message);
    if (previous === undefined) await stream.cancel(new ArcpError('CANCELLED', reason));
    return { previous: previous };
  }
  const row = await jobOfStream(connection, streamId);
  const previous = await findCommand(connection, message);
  if (previous !== undefined) return { previous: previous };
  if (row?.leaseOwner == null) throw new ArcpError('NOT_FOUND', 'The stream does not exist or has ended');
  const { records, jobs } = orderTo(row, { order: { kind: 'cancel-stream', streamId, reason } });
  const ack = acknowledgement(connection, message);
  const result = await engine.log.commit({ events: ack.events, records: [...ack.records, ...records], jobs });
  if (result.outcome === 'fenced') return cancelStream(connection, message);
  return result.outcome === 'conflict' ? { previous: result.found } : {};
}

/** Returns the job that writes a stream in another runtime, if it belongs to the principal. */
async function jobOfStream({ engine, session }: ConnectionContext, streamId: string): Promise<JobRow | undefined> {
  const found = await engine.store.readRecord(JOB_OF_STREAM, streamId);
  const row = found && (await engine.store.readJob(found.value));
  return row?.principal === session.principal ? row : undefined;
}

/** Cancels all live jobs of the session, which stays open. */
async function cancelSession(connection: ConnectionContext, message: Cancel): Promise<CommandResult> {
  const { engine, session } = connection;
  const { reason, deadline_ms: deadlineMs, target_id = session.id } = message.payload;
  if (target_id !== session.id)
    throw new ArcpError('NOT_FOUND', 'target_id names a session that is not open on this connection');
  const previous = await acknowledge(connection, message);
  if (previous !== undefined) return { previous: previous };
  const request = { cause: 'client', reason, deadlineMs } as const;
  await cancelJobsOf(engine, session.id, request);
  return {};
}

/** Stores the acknowledgement. @returns the record of the command if it was executed before */
async function acknowledge(connection: ConnectionContext, message: Cancel): Promise<StoredRecord | undefined> {
  const result = await connection.engine.log.commit(acknowledgement(connection, message));
  return result.outcome === 'conflict' ? result.found : undefined;
}

/** Answers a repeated command with its first answer, although the job has ended since. */
async function ended(connection: ConnectionContext, message: Envelope, { state }: JobRow): Promise<CommandResult> {
  const previous = await findCommand(connection, message);
  if (previous !== undefined) return { previous: previous };
  throw new ArcpError('FAILED_PRECONDITION', `The job is ${state}`, { details: { state } });
}

/** Returns the stored id of the job; a direct call is named by its command. */
async function jobOf(connection: ConnectionContext, { job_id, correlation_id, payload }: Cancel): Promise<string> {
  const named = job_id ?? payload.target_id ?? correlation_id;
  if (named === undefined)
    throw new ArcpError('INVALID_ARGUMENT', 'job_id, target_id or correlation_id is required to cancel a job');
  return (await jobOfCommand(connection, named)) ?? named;
}

export async function close(connection: ConnectionContext, message: Envelope<'session.close'>): Promise<CommandResult> {
  const { core, engine, session } = connection;
  const { log, store } = engine;
  const { jobs, dispose_jobs, reason = 'The session was closed' } = message.payload;
  const disposal = jobs ?? dispose_jobs ?? 'detach';
  if (disposal !== 'detach') {
    if (disposal === 'cancel') await cancelJobsOf(engine, session.id, { cause: 'client', reason });
    for await (const { jobId } of jobsOf(store, { sessionId: session.id, states: LIVE_STATES }))
      await untilEnded(engine, jobId);
  }
  const { body } = log.compose(ackOf(connection, message, 'done'));
  await changeSession(log, session.id, { closedAt: engine.now(), seenAt: engine.now() });
  // Without a reader, the rate of streams is not limited.
  engine.streams.forget(session.id);
  if (session.epoch > 0) await core.peers.unlimit(session);
  await connection.subscription.caughtUp();
  connection.send(body);
  connection.closeSession();
  return {};
}
