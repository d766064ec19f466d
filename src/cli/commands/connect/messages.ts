import { readHead } from '../../../accp/bindings/frames.js';
import { createCodec } from '../../../accp/codec/codec.js';
import type { Loss, Message, MessageInput } from '../../../accp/message/message.js';
import { chatMessage } from '../../../accp/profiles/profiles.js';
import { isIdentifier } from '../../../accp/session/envelope.js';
import { createSession } from '../../../accp/session/session.js';
import { PegwireError } from '../../../text/errors.js';
import { notJson } from '../../io/exact-json.js';
import { messageOf } from '../../session/incoming.js';
import { readMessage } from '../../session/message-input.js';

export type Outgoing =
  | { readonly kind: 'frame'; readonly frame: string }
  | { readonly kind: 'message'; readonly message: MessageInput; readonly losses: readonly Loss[] };

const READING = { refs: false, keepEnvelope: false };

/** Reads a frame, a message as JSON, or a text, by the first character. @throws PegwireError */
export function readOutgoing(line: string): Outgoing {
  const text = line.trim();
  if (text.startsWith('@')) return { kind: 'frame', frame: text };
  if (!/^[{"]/.test(text)) return { kind: 'message', message: chatMessage(text, { role: 'user' }), losses: [] };
  try {
    const { message: read, losses } = readMessage(text, READING);
    const message = typeof read === 'string' ? chatMessage(read, { role: 'user' }) : read;
    return { kind: 'message', message, losses };
  } catch (thrown) {
    if (thrown instanceof PegwireError || !(thrown instanceof SyntaxError)) throw thrown;
    throw notJson(thrown, text, 'a message: {"intent":"req","operation":"find","payload":{"query":"cats"}}');
  }
}

/** Reports whether a message requires an answer. */
export function isAsking({ intent }: { readonly intent: string }): boolean {
  return intent === 'req' || intent === 'qry';
}

const codec = createCodec({ state: false, dialect: 'lenient' });

/** Decodes a frame outside of any session; `null` for parts of messages and frames that need their session. */
export function messageOfFrame(frame: string): Message | null {
  const head = readHead(frame);
  if (head === null) return null;
  const id = head.sid !== undefined && isIdentifier(head.sid) ? head.sid : undefined;
  const session = createSession({ agent: 'reader', id, sequence: 'sender', firstSequence: head.seq });
  try {
    return messageOf(codec.decode(frame, session));
  } finally {
    session.close();
  }
}
