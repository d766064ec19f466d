/** What is done with each message that a client sends in a session. */
import type { MessageType } from '../../protocol/catalogue.js';
import type { Envelope } from '../../protocol/envelope.js';
import { paceOf } from '../../streams/writer.js';
import type { Carrier } from '../core.js';
import type { StartingCommand } from '../job/spec.js';
import { answer } from './answer.js';
import { cancel, close } from './cancel.js';
import { createCheckpoint, restoreCheckpoint } from './checkpoint.js';
import type { Commanded } from './command.js';
import { handoff } from './handoff.js';
import { resume } from './resume.js';
import { startWork } from './start.js';
import { openUpload, upload } from './upload.js';

/** Carries a message out. What it throws is the refusal. */
type Command<T extends MessageType> = (
  connection: Carrier,
  message: Envelope<T>,
  /** Resolves when the commands that came before have been taken or refused. */
  before: () => Promise<unknown>,
) => Promise<Commanded>;

const start = ({ core, engine, session }: Carrier, command: StartingCommand): Promise<Commanded> =>
  startWork(core, engine, session, command);

/** Others only tell something, which nobody here has asked for. */
export const COMMANDS: { readonly [T in MessageType]?: Command<T> } = {
  'tool.invoke': start,
  'workflow.start': start,
  'agent.delegate': start,
  cancel,
  resume,
  'session.close': close,
  'checkpoint.create': createCheckpoint,
  'checkpoint.restore': restoreCheckpoint,
  'agent.handoff': handoff,
  backpressure,
  'stream.open': openUpload,
  'stream.chunk': upload,
  'stream.close': upload,
  'stream.error': upload,
  'permission.grant': answer,
  'permission.deny': answer,
};

/** Of one stream, or of all. Of a stream that has ended it says nothing any more. */
export async function backpressure(
  { engine, session }: Carrier,
  { stream_id, payload }: Envelope<'backpressure'>,
): Promise<Commanded> {
  const pace = paceOf(payload);
  if (stream_id === undefined) engine.streams.paceSession(session.id, pace);
  else engine.streams.paceStream(stream_id, session, pace);
  return {};
}
