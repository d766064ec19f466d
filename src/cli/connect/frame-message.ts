/** What a frame says by itself, outside of any session. */
import { readHead } from '../../accp/bindings/frames.js';
import { createCodec } from '../../accp/codec/codec.js';
import type { DecodeOutcome } from '../../accp/codec/contract.js';
import type { Message } from '../../accp/message/message.js';
import { isIdentifier } from '../../accp/session/envelope.js';
import { createSession } from '../../accp/session/session.js';

const codec = createCodec({ state: false, dialect: 'lenient' });

/** `null` for what is no frame, for part of a message, and for what only its session can tell. */
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

/** The message that a decoded frame gives, where it gives one. */
export function messageOf(outcome: DecodeOutcome): Message | null {
  return outcome.outcome === 'message' || outcome.outcome === 'pending' ? (outcome.message ?? null) : null;
}
