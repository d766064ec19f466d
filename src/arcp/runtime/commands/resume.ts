/** Replay of the messages that a client has missed (spec 003, "Resumability": "Clients MAY reconnect and resume execution"). */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import type { JobRow, StoredEvent } from '../../store/store.js';
import type { ConnectionContext } from '../core.js';
import { jobsOf } from '../engine/jobs.js';
import { JobMessages } from '../job/messages.js';
import { changeOf, specOf, statusOf } from '../job/spec.js';
import { pendingRequestsOf } from '../permissions/leases.js';
import { ackOf, type CommandResult, ownCheckpoint, ownJob } from './command.js';

type Resume = Envelope<'resume'>;

/** Replays earlier messages, then sends the answer, then new messages, without a gap. */
export async function resume(connection: ConnectionContext, message: Resume): Promise<CommandResult> {
  const { engine, session, subscription } = connection;
  const { log } = engine;
  const jobId = message.job_id;
  const row = jobId === undefined ? undefined : await ownJob(connection, jobId);
  const after = await sequenceSeen(connection, message, row?.sessionId ?? session.id);
  if (row?.state === 'paused' && message.payload.mode !== 'replay') await continueJob(connection, row, message);
  const { include_open_streams: withStreams = true, limit = Number.POSITIVE_INFINITY } = message.payload;
  subscription.pause();
  try {
    const upTo = await log.lastSequence(row?.sessionId ?? session.id);
    const of = jobId === undefined ? { sessionId: session.id } : { jobId };
    const replayed = await subscription.replay(
      { of, after, upTo, limit },
      ({ type }) => withStreams || !type.startsWith('stream.'),
    );
    const details = {
      replayed: replayed.count,
      last_message_id: replayed.lastId,
      ...(replayed.isCut ? { more: true } : {}),
    };
    const { body } = log.compose({ ...ackOf(connection, message, 'done', details), jobId });
    await resendPendingRequests(connection, jobId, after);
    if (row !== undefined) subscription.followJob(row, upTo);
    connection.send(body);
    if (row === undefined || row.sessionId === session.id)
      subscription.startAfter(upTo, replayed.isCut ? undefined : replayed.lastId);
    else if (!subscription.isStarted) subscription.startAfter(await log.lastSequence(session.id));
    return {};
  } finally {
    subscription.resume();
  }
}

/** Resends pending permission requests, since the client that received them may have disconnected. */
async function resendPendingRequests(
  connection: ConnectionContext,
  jobId: string | undefined,
  after: number,
): Promise<void> {
  const { engine, session } = connection;
  const { store } = engine;
  const resend = async (job: string): Promise<void> => {
    for (const id of await pendingRequestsOf(store, job)) {
      const event = await store.findEvent(id);
      if (event !== undefined && event.sequence <= after) connection.send(event.body);
    }
  };
  if (jobId !== undefined) await resend(jobId);
  else for await (const row of jobsOf(store, { sessionId: session.id, states: ['blocked'] })) await resend(row.jobId);
}

async function continueJob(connection: ConnectionContext, row: JobRow, message: Resume): Promise<void> {
  const { engine } = connection;
  const { log, scheduler } = engine;
  const moved = new JobMessages(log, row, specOf(row)).moved('paused', 'queued', 'resume', {}, message.id);
  const status = JSON.stringify({ ...statusOf(row), again: { attempt: row.attempt, causedBy: moved.id } });
  const set = { state: 'queued', delayMs: 0, status } as const;
  const result = await log.commit({ jobs: [changeOf(row, set, ['paused'])], events: [moved] });
  // Another command has changed the job.
  if (result.outcome === 'fenced' && result.found?.state === 'paused')
    await continueJob(connection, result.found, message);
  scheduler.wake();
}

/** Returns the sequence number of the last message of a session that the client has received. */
async function sequenceSeen(connection: ConnectionContext, message: Resume, sessionId: string): Promise<number> {
  const { after_message_id: messageId, checkpoint_id: checkpointId } = message.payload;
  if (messageId !== undefined) return sequenceOf(connection, message, messageId, sessionId);
  if (checkpointId === undefined) return 0;
  const { stored } = await ownCheckpoint(connection, checkpointId, message.job_id);
  return sequenceOf(connection, message, stored.messageId, sessionId);
}

async function sequenceOf(
  connection: ConnectionContext,
  message: Resume,
  messageId: string,
  sessionId: string,
): Promise<number> {
  const { engine, session, core } = connection;
  if (messageId === session.acceptedId) return 0;
  if (messageId === session.sent?.id) return session.sent.sequence;
  const event = await engine.store.findEvent(messageId);
  if (event !== undefined && (await mayRead(connection, event))) {
    if (event.sessionId === sessionId) return event.sequence;
    // Numbers of different sessions cannot be compared. The client drops what it has already received.
    return sessionId === session.id ? (session.sent?.sequence ?? 0) : 0;
  }
  const details = { message_id: messageId };
  // It may have been trimmed.
  if (core.durable.now() - session.openedAt <= core.settings.retentionMs)
    throw new ArcpError('NOT_FOUND', 'The message does not exist', { details });
  const of = message.job_id === undefined ? { sessionId: session.id } : { jobId: message.job_id };
  const [oldest] = await engine.store.readEvents({ ...of, limit: 1 });
  throw new ArcpError('DATA_LOSS', 'The message is no longer stored; resume after details.oldest_message_id', {
    details: { ...details, ...(oldest === undefined ? {} : { oldest_message_id: oldest.id }) },
  });
}

async function mayRead({ engine, session }: ConnectionContext, { sessionId, jobId }: StoredEvent): Promise<boolean> {
  if (sessionId === session.id) return true;
  const job = jobId === undefined ? undefined : await engine.store.readJob(jobId);
  return job?.principal === session.principal;
}
