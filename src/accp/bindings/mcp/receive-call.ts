/** The frames that come with an MCP tool call. */
import { notifyListener } from '../../../async/listeners.js';
import type { Codec } from '../../codec/codec.js';
import { AccpError } from '../../errors.js';
import type { Message } from '../../message/message.js';
import type { Session } from '../../session/session.js';
import type { Notice } from '../endpoint-options.js';

export interface ReceivedFrames {
  /** Frames to send back, in order. */
  readonly replies: readonly string[];
  /** What the tool has to do; `undefined` where there is nothing, or where it was refused. */
  readonly call: Message | undefined;
  readonly isRefused: boolean;
  /** Nothing is said of frames that have expired (section 3.7, item 5), but MCP needs its answer. */
  readonly isExpired: boolean;
}

interface Receiver {
  /** Of the tool. */
  readonly name: string;
  readonly codec: Codec;
  readonly noticed?: ((notice: Notice) => void) | undefined;
}

/** Intents that nobody waits for an answer to. */
const NO_REQUEST: ReadonlySet<string> = new Set([
  'sync',
  'ack',
  'wait',
  'done',
  'fail',
  'end',
  'stream',
  'cancel',
  'ping',
  'pong',
]);

/**
 * Decodes the frames of one tool call: what keeps the session going, and last the request. Requests before it, which are sent
 * again after a gap, are refused: MCP carries one call at a time.
 */
export function receiveCall(
  frames: readonly string[],
  session: Session,
  { name, codec, noticed }: Receiver,
): ReceivedFrames {
  const replies: string[] = [];
  const refused: { readonly message: Message; readonly why: AccpError }[] = [];
  let call: Message | undefined;
  let isRejected = false;
  let isExpired = false;
  frames.forEach((frame, index) => {
    const outcome = codec.decode(frame, session);
    isExpired = outcome.outcome === 'dropped';
    if (outcome.outcome === 'dropped') return;
    if (outcome.outcome === 'rejected') {
      isRejected = true;
      if (outcome.reply !== null) replies.push(outcome.reply);
      return;
    }
    const { losses, warnings } = outcome;
    if (losses.length + warnings.length > 0)
      notifyListener(() => noticed?.({ session, direction: 'received', losses, warnings }));
    replies.push(...outcome.replies);
    if (outcome.outcome === 'pending' || NO_REQUEST.has(outcome.message.intent)) return;
    const why = whyNot(outcome.message, name, index === frames.length - 1);
    if (why === null) call = outcome.message;
    else refused.push({ message: outcome.message, why });
  });
  // They are numbered after all that was received.
  for (const { message, why } of refused) replies.push(codec.fail(message, why, session));
  return { replies, call, isRefused: isRejected || refused.length > 0, isExpired };
}

function whyNot({ intent, schema, payload }: Message, tool: string, isLast: boolean): AccpError | null {
  const isCall = (intent === 'req' || intent === 'qry') && schema === 'TC';
  if (!isCall)
    return new AccpError({ code: 'E1004', path: 'schema', message: 'a tool takes "req:tool" of the schema TC' });
  if (!isLast) return new AccpError({ code: 'E4002', message: 'MCP carries one tool call at a time: send it again.' });
  if (payload['tool_name'] === tool) return null;
  return new AccpError({
    code: 'E4001',
    path: 'payload.tool_name',
    message: 'it is another tool than the one that is called',
  });
}
