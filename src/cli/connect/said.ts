/** What a line of the input says. */
import type { MessageInput } from '../../accp/message/message.js';
import { chatMessage } from '../../accp/profiles/chat.js';
import { PegwireError } from '../../text/errors.js';
import { readMessage } from '../message-input.js';
import { notJson } from '../not-json.js';

export type Said =
  | { readonly kind: 'frame'; readonly frame: string }
  | { readonly kind: 'message'; readonly message: MessageInput };

const READING = { refs: false, keepEnvelope: false };

/**
 * A frame, a message as JSON, or a text, by its first character.
 *
 * @throws PegwireError on JSON that is none, or that is no message
 */
export function readSaid(line: string): Said {
  const text = line.trim();
  if (text.startsWith('@')) return { kind: 'frame', frame: text };
  if (!/^[{"]/.test(text)) return { kind: 'message', message: chatMessage(text, { role: 'user' }) };
  try {
    const { message } = readMessage(text, READING);
    return { kind: 'message', message: typeof message === 'string' ? chatMessage(message, { role: 'user' }) : message };
  } catch (thrown) {
    if (thrown instanceof PegwireError || !(thrown instanceof SyntaxError)) throw thrown;
    throw notJson(thrown, text, 'a message: {"intent":"req","operation":"find","payload":{"query":"cats"}}');
  }
}

/** Whether somebody is asked for something, who then owes an answer. */
export function isAsking({ intent }: { readonly intent: string }): boolean {
  return intent === 'req' || intent === 'qry';
}
