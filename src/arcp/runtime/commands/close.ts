/** The end of a session (spec 003, "Sessions"). */
import type { Envelope } from '../../protocol/envelope.js';
import { timestampOf } from '../../protocol/timestamp.js';
import { LIVE_STATES } from '../../store/store.js';
import { traceBelow } from '../compose.js';
import type { Carrier } from '../core.js';
import { cancelJob } from '../jobs/cancel-job.js';
import { untilEnded } from '../jobs/until-ended.js';
import { SESSIONS, sessionOf, sessionRecord } from '../session.js';
import type { Commanded } from './commanded.js';

export async function close(
  connection: Carrier,
  message: Envelope<'session.close'>,
  before: () => Promise<unknown>,
): Promise<Commanded> {
  await before();
  const { engine, session, core } = connection;
  const { log, store } = engine;
  const { now } = core.settings;
  const { jobs, dispose_jobs, reason = 'The session was closed' } = message.payload;
  const disposal = jobs ?? dispose_jobs ?? 'detach';
  if (disposal !== 'detach') {
    const live = await store.listJobs({ sessionId: session.id, states: LIVE_STATES, limit: Number.POSITIVE_INFINITY });
    const request = { cause: 'client', reason } as const;
    if (disposal === 'cancel')
      await Promise.all(live.map(({ jobId }) => cancelJob(engine, jobId, request, { now: engine.clock })));
    await Promise.all(live.map(({ jobId }) => untilEnded(engine, jobId)));
  }
  const { body } = log.compose({
    ...{ type: 'ack', sessionId: session.id, correlationId: message.id, trace: traceBelow(message) },
    payload: { ack_for: message.id, received_at: timestampOf(now()), status: 'done' },
  });
  const record = await store.readRecord(SESSIONS, session.id);
  if (record !== undefined) {
    const closed = { ...sessionOf(record), closedAt: engine.clock(), seenAt: engine.clock() };
    await log.commit({ records: [sessionRecord(session.id, closed, record.version)] });
  }
  await connection.feed.caughtUp();
  connection.say(body);
  connection.leave();
  return {};
}
