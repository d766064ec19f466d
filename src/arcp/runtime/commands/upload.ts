/** Streams that a client sends to its work (spec 003, "Streams"). They are told of, and never answered, unless they are not taken. */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import { streamKindOf } from '../../protocol/payloads/streaming.js';
import type { ConnectionContext } from '../core.js';
import { isTerminal } from '../job/spec.js';
import { can } from '../sessions/session.js';
import { type CommandResult, jobOfCommand, ownJob } from './command.js';

export async function openUpload(
  connection: ConnectionContext,
  message: Envelope<'stream.open'>,
): Promise<CommandResult> {
  const { engine, uploader } = connection;
  try {
    assertReadable(connection, message);
    const row = await ownJob(connection, await jobOf(connection, message));
    if (isTerminal(row.state)) throw new ArcpError('FAILED_PRECONDITION', `The job is ${row.state}`);
    engine.uploads.open(row.jobId, message, uploader);
  } catch (thrown) {
    uploader.refused(message.stream_id!, asArcpError(thrown));
  }
  return {};
}

export async function upload(
  { engine, uploader }: ConnectionContext,
  message: Envelope<'stream.chunk' | 'stream.close' | 'stream.error'>,
): Promise<CommandResult> {
  engine.uploads.take(message, uploader);
  return {};
}

async function jobOf(connection: ConnectionContext, message: Envelope<'stream.open'>): Promise<string> {
  const jobId = message.job_id ?? message.payload.related_job_id;
  if (jobId !== undefined) return jobId;
  if (message.correlation_id === undefined)
    throw new ArcpError('INVALID_ARGUMENT', 'job_id names the job that it is for, or correlation_id the call');
  const known = await jobOfCommand(connection, message.correlation_id);
  if (known === undefined) throw new ArcpError('NOT_FOUND', 'There is no such call');
  return known;
}

function assertReadable({ session }: ConnectionContext, { payload }: Envelope<'stream.open'>): void {
  const { capabilities } = session;
  const isBinary = streamKindOf(payload.kind) === 'binary';
  if (!can(capabilities, 'streaming') || (isBinary && !can(capabilities, 'binary_streams')))
    throw new ArcpError('UNIMPLEMENTED', `${isBinary ? 'Binary streams' : 'Streams'} were not negotiated`);
}
