/** CH: conversation (draft-benzing-accp-00, section 10.1). It has fields and defaults, and no rule beyond them. */
import type { MessageInput } from '../message/message.js';
import { sealDefinition } from '../message/schema-definition.js';
import type { Profile } from './profile.js';

export const CHAT: Profile = {
  code: 'CH',
  name: 'Chat',
  schemaName: 'chat',
  schema: sealDefinition({
    code: 'CH',
    version: 1,
    fields: ['role', 'content', 'turn', 'lang', 'reply_to'],
    defaults: { role: 'assistant', lang: 'en' },
    types: { role: 'string', content: 'string', turn: 'integer', lang: 'string', reply_to: 'string' },
    operations: ['chat'],
  }),
  check: () => {},
};

export interface ChatOptions {
  /** Who speaks: `user`, `assistant`, ... @default 'assistant' */
  readonly role?: string | undefined;
  /** The number of the turn in the conversation. */
  readonly turn?: number | undefined;
  /** @default 'en' */
  readonly lang?: string | undefined;
  /** What it answers. */
  readonly replyTo?: string | undefined;
  /** @default as in the draft's examples: `done` for the assistant, `req` for everybody else */
  readonly intent?: string | undefined;
}

/** A text as a message of the chat profile. */
export function chatMessage(text: string, options: ChatOptions = {}): MessageInput {
  const { role = 'assistant', turn, lang, replyTo, intent = role === 'assistant' ? 'done' : 'req' } = options;
  return {
    intent,
    operation: 'chat',
    schema: 'CH',
    payload: {
      role,
      content: text,
      ...(turn === undefined ? {} : { turn }),
      ...(lang === undefined ? {} : { lang }),
      ...(replyTo === undefined ? {} : { reply_to: replyTo }),
    },
  };
}
