/** The end of work that a client does not want any more (spec 003, "Jobs": "Jobs MUST support cancellation"). */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import type { JobRow } from '../../store/store.js';
import type { Carrier } from '../core.js';
import { cancelJob } from '../jobs/cancel-job.js';
import type { Commanded } from './commanded.js';
import { acknowledged, carriedOut, commandRecord, commandsOf, type KeptCommand } from './once.js';

export async function cancel(
  connection: Carrier,
  message: Envelope<'cancel'>,
  before: () => Promise<unknown>,
): Promise<Commanded> {
  // What was asked for before is there to be cancelled.
  await before();
  const { engine, session, core } = connection;
  const { now } = core.settings;
  const { reason, deadline_ms: deadlineMs } = message.payload;
  const jobId = await jobOf(connection, message);
  const ack = acknowledged(connection, message);
  const cancelled = await cancelJob(
    engine,
    jobId,
    { cause: 'client', reason, deadlineMs },
    {
      ...{ now, events: [ack], records: [commandRecord(session.principal, message, { answerId: ack.id }, jobId)] },
      // Somebody else's job is not to be told from none.
      check: ({ principal }) => {
        if (principal !== session.principal) throw new ArcpError('NOT_FOUND', 'There is no such job');
      },
    },
  );
  if (cancelled.outcome === 'conflict') return { former: cancelled.found };
  return cancelled.outcome === 'ended' ? ended(connection, message, cancelled.row) : {};
}

/** A command that was carried out before is answered as it was then, whatever became of the job since. */
async function ended(connection: Carrier, message: Envelope, { state }: JobRow): Promise<Commanded> {
  const former = await carriedOut(connection, message);
  if (former !== undefined) return { former };
  throw new ArcpError('FAILED_PRECONDITION', `The job is ${state}`, { details: { state } });
}

/** @returns the id of the job, as the store knows it: that of a direct call is known by its command alone */
async function jobOf(
  { engine, session }: Carrier,
  { job_id, correlation_id, payload }: Envelope<'cancel'>,
): Promise<string> {
  const { target = 'job', target_id } = payload;
  if (target !== 'job') throw new ArcpError('UNIMPLEMENTED', `Nobody cancels a ${target} here`);
  const named = job_id ?? target_id ?? correlation_id;
  if (named === undefined) throw new ArcpError('INVALID_ARGUMENT', 'Nothing is named that could be cancelled');
  const command = await engine.store.readRecord(commandsOf(session.principal), named);
  const known = command && (JSON.parse(command.value) as KeptCommand).jobId;
  return known ?? named;
}
