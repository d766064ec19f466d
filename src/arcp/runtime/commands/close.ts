/** The end of a session (spec 003, "Sessions"). */
import type { Envelope } from '../../protocol/envelope.js';
import { timestampOf } from '../../protocol/timestamp.js';
import { LIVE_STATES } from '../../store/store.js';
import { traceBelow } from '../compose.js';
import type { Carrier } from '../core.js';
import { cancelJobsOf } from '../jobs/cancel-job.js';
import { jobsOf } from '../jobs/jobs-of.js';
import { untilEnded } from '../jobs/until-ended.js';
import { changeSession } from '../session.js';
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
    if (disposal === 'cancel') await cancelJobsOf(engine, session.id, { cause: 'client', reason });
    for await (const { jobId } of jobsOf(store, { sessionId: session.id, states: LIVE_STATES }))
      await untilEnded(engine, jobId);
  }
  const { body } = log.compose({
    ...{ type: 'ack', sessionId: session.id, correlationId: message.id, trace: traceBelow(message) },
    payload: { ack_for: message.id, received_at: timestampOf(now()), status: 'done' },
  });
  await changeSession(log, session.id, { closedAt: engine.clock(), seenAt: engine.clock() });
  await connection.feed.caughtUp();
  connection.say(body);
  connection.leave();
  return {};
}
