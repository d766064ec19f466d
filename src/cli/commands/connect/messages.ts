/** What a line of the input says. */
import type { Loss, MessageInput } from '../../../accp/message/message.js';
import { chatMessage } from '../../../accp/profiles/chat.js';
import { PegwireError } from '../../../text/errors.js';
import { notJson } from '../../not-json.js';
import { readMessage } from '../../session/message-input.js';

export type Said =
  | { readonly kind: 'frame'; readonly frame: string }
  | { readonly kind: 'message'; readonly message: MessageInput; readonly losses: readonly Loss[] };

const READING = { refs: false, keepEnvelope: false };

/**
 * A frame, a message as JSON, or a text, by its first character.
 *
 * @throws PegwireError on JSON that is none, or that is no message
 */
export function readSaid(line: string): Said {
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

/** Whether somebody is asked for something, who then owes an answer. */
export function isAsking({ intent }: { readonly intent: string }): boolean {
  return intent === 'req' || intent === 'qry';
}
