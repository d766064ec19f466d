/**
 * The `Last-Event-ID` of event streams. A browser keeps the id of the last event and sends it when it opens the stream again, so a page need not
 * keep a cursor: it sends `session.open` with its session and resume token on each `connection` event, and the runtime continues after that id.
 */
import type { Channel, Receiver } from '../../../channels/channel.js';
import { headerOfText, tryParseEnvelope } from '../../protocol/codec.js';
import { formatTimestamp, newId } from '../../protocol/ids.js';

/** Messages that a runtime does not store, so that a client cannot resume after them. */
const TRANSIENT: ReadonlySet<string | undefined> = new Set([
  'session.accepted',
  'ping',
  'pong',
  'ack',
  'nack',
  'job.heartbeat',
  'backpressure',
]);

/** The length of the beginning of an envelope in which its members stand. */
const BEGINNING = 2048;

/** Returns the id of the event of a message: that of the message, if the runtime stores it. */
export function eventId(text: string): string | undefined {
  const { id, type } = headerOfText(text.slice(0, BEGINNING));
  // An id may have any printable character, and an event's must not have a line end.
  return id === undefined || TRANSIENT.has(type) || /[\r\n\0]/.test(id) ? undefined : id;
}

/**
 * Resumes a session after a message, for a client that does not do it itself: when the session that it opens is an earlier one, the runtime
 * receives `resume` with that message. The client does not receive the answer.
 */
export function resumesAfter(channel: Channel, messageId: string): Channel {
  let receiver: Receiver | undefined;
  /** The session that the client resumes. */
  let wanted: string | undefined;
  let commandId: string | undefined;
  const resume = (after: string | undefined): void => {
    commandId = newId('msg');
    const payload = after === undefined ? {} : { after_message_id: after };
    const header = { arcp: '1.0', id: commandId, type: 'resume', timestamp: formatTimestamp(Date.now()) };
    receiver?.text(JSON.stringify({ ...header, session_id: wanted, payload }));
  };
  return {
    ...channel,
    start: (given) => {
      receiver = given;
      channel.start({
        ...given,
        text: (text, isUnterminated) => {
          const message = headerOfText(text.slice(0, BEGINNING));
          if (message.type === 'session.open') wanted = sessionOf(text);
          given.text(text, isUnterminated);
        },
      });
    },
    send: (text) => {
      const { type, correlation_id, session_id } = headerOfText(text.slice(0, BEGINNING));
      const isAnswer = commandId !== undefined && correlation_id === commandId;
      if (isAnswer && (type === 'ack' || type === 'nack')) {
        // The message may not be stored any more. The client drops those that it knows.
        if (type === 'nack' && /"code":"(?:NOT_FOUND|DATA_LOSS)"/.test(text)) resume(undefined);
        return;
      }
      channel.send(text);
      if (type !== 'session.accepted' || wanted === undefined) return;
      const accepted = session_id ?? sessionOf(text);
      if (accepted === wanted) resume(messageId);
    },
  };
}

/** Returns the session that a message names in its envelope or payload. */
function sessionOf(text: string): string | undefined {
  const parsed = tryParseEnvelope(text);
  if (!parsed.ok) return undefined;
  const { session_id, payload } = parsed.value;
  return session_id ?? (payload as { readonly session_id?: string }).session_id;
}
