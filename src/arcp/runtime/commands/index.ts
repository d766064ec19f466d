/** What is done with each message that a client sends in a session. */
import type { MessageType } from '../../protocol/catalogue.js';
import type { Envelope } from '../../protocol/envelope.js';
import { paceOf } from '../../streams/writer.js';
import type { ConnectionContext } from '../core.js';
import { answer } from './answer.js';
import { cancel, close } from './cancel.js';
import { createCheckpoint, restoreCheckpoint } from './checkpoint.js';
import { type CommandResult, carriedOut } from './command.js';
import { handoff } from './handoff.js';
import { resume } from './resume.js';
import { startWork } from './start.js';
import { openUpload, upload } from './upload.js';

/** Carries out a message; errors become the refusal. */
type Command<T extends MessageType> = (
  connection: ConnectionContext,
  message: Envelope<T>,
  /** Resolves when earlier commands were accepted or refused. */
  before: () => Promise<unknown>,
) => Promise<CommandResult>;
type Handler<T extends MessageType> = (connection: ConnectionContext, message: Envelope<T>) => Promise<CommandResult>;

/** Waits for earlier commands, which may have created its target. */
function inOrder<T extends MessageType>(handler: Handler<T>): Command<T> {
  return async (connection, message, before) => {
    await before();
    return handler(connection, message);
  };
}

/** Answers a repeated command with its first answer. */
function once<T extends MessageType>(handler: Handler<T>): Command<T> {
  return inOrder(async (connection, message) => {
    const former = await carriedOut(connection, message);
    return former === undefined ? handler(connection, message) : { former };
  });
}

/** Other messages are ignored. */
export const COMMANDS: { readonly [T in MessageType]?: Command<T> } = {
  'tool.invoke': startWork,
  'workflow.start': startWork,
  'agent.delegate': startWork,
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

async function backpressure(
  { engine, session }: ConnectionContext,
  { stream_id, payload }: Envelope<'backpressure'>,
): Promise<CommandResult> {
  const pace = paceOf(payload);
  if (stream_id === undefined) engine.streams.paceSession(session.id, pace);
  else engine.streams.paceStream(stream_id, session, pace);
  return {};
}
