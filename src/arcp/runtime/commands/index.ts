/** Dispatch of the messages that a client sends in a session. */
import type { MessageType } from '../../protocol/catalogue.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import { streamKindOf } from '../../protocol/payloads/streaming.js';
import { rateLimitOf } from '../../streams/writer.js';
import type { ConnectionContext } from '../core.js';
import { can } from '../sessions/session.js';
import { answer } from './answer.js';
import { cancel, close } from './cancel.js';
import { createCheckpoint, restoreCheckpoint } from './checkpoint.js';
import { type CommandResult, findCommand, jobOfCommand, ownJob } from './command.js';
import { handoff } from './handoff.js';
import { resume } from './resume.js';
import { startCommand } from './start.js';

/** Executes a message. A thrown error becomes the refusal. */
type Command<T extends MessageType> = (
  connection: ConnectionContext,
  message: Envelope<T>,
  /** Resolves when all earlier commands were accepted or refused. */
  before: () => Promise<unknown>,
) => Promise<CommandResult>;
type Handler<T extends MessageType> = (connection: ConnectionContext, message: Envelope<T>) => Promise<CommandResult>;

/** Makes a handler wait for earlier commands, which may create its target. */
function inOrder<T extends MessageType>(handler: Handler<T>): Command<T> {
  return async (connection, message, before) => {
    await before();
    return handler(connection, message);
  };
}

/** Makes a handler answer a repeated command with its first answer. */
function once<T extends MessageType>(handler: Handler<T>): Command<T> {
  return inOrder(async (connection, message) => {
    const previous = await findCommand(connection, message);
    return previous === undefined ? handler(connection, message) : { previous: previous };
  });
}

/** The handlers by message type. Messages of other types are ignored. */
export const COMMANDS: { readonly [T in MessageType]?: Command<T> } = {
  'tool.invoke': startCommand,
  'workflow.start': startCommand,
  'agent.delegate': startCommand,
  cancel: inOrder(cancel),
  resume: inOrder(resume),
  'session.close': inOrder(close),
  'checkpoint.create': once(createCheckpoint),
  'checkpoint.restore': once(restoreCheckpoint),
  'agent.handoff': once(handoff),
  backpressure,
  'stream.open': inOrder(openUpload),
  'stream.chunk': inOrder(upload),
  'stream.close': inOrder(upload),
  'stream.error': inOrder(upload),
  'permission.grant': once<'permission.grant' | 'permission.deny'>(answer),
  'permission.deny': once<'permission.grant' | 'permission.deny'>(answer),
};

async function backpressure(connection: ConnectionContext, message: Envelope<'backpressure'>): Promise<CommandResult> {
  const { core, engine, session } = connection;
  const { stream_id, payload } = message;
  const limit = rateLimitOf(payload);
  if (stream_id === undefined) engine.streams.limitSession(session.id, limit);
  else engine.streams.limitStream(stream_id, session, limit);
  if (session.epoch > 0) await core.peers.limit(connection, message);
  return {};
}

/** Opens a stream of the client (spec 003, "Streams"). There is no answer unless it is refused. */
async function openUpload(connection: ConnectionContext, message: Envelope<'stream.open'>): Promise<CommandResult> {
  const { engine, uploader } = connection;
  try {
    assertReadable(connection, message);
    const row = await ownJob(connection, await jobOf(connection, message));
    await engine.uploads.open(engine.log, row, message, uploader);
  } catch (thrown) {
    uploader.refuse(message.stream_id!, asArcpError(thrown));
  }
  return {};
}

async function upload(
  { engine, uploader }: ConnectionContext,
  message: Envelope<'stream.chunk' | 'stream.close' | 'stream.error'>,
): Promise<CommandResult> {
  engine.uploads.take(engine.log, message, uploader);
  return {};
}

async function jobOf(connection: ConnectionContext, message: Envelope<'stream.open'>): Promise<string> {
  const jobId = message.job_id ?? message.payload.related_job_id;
  if (jobId !== undefined) return jobId;
  if (message.correlation_id === undefined)
    throw new ArcpError(
      'INVALID_ARGUMENT',
      'job_id or correlation_id is required; it names the job or the call of the stream',
    );
  const known = await jobOfCommand(connection, message.correlation_id);
  if (known === undefined) throw new ArcpError('NOT_FOUND', 'The call does not exist');
  return known;
}

function assertReadable({ session }: ConnectionContext, { payload }: Envelope<'stream.open'>): void {
  const { capabilities } = session;
  const isBinary = streamKindOf(payload.kind) === 'binary';
  if (!can(capabilities, 'streaming') || (isBinary && !can(capabilities, 'binary_streams')))
    throw new ArcpError('UNIMPLEMENTED', `${isBinary ? 'Binary streams' : 'Streams'} were not negotiated`);
}
