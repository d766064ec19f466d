/** The profiles, several of which can be active (draft-benzing-accp-00, section 10). */

import { quotedShort } from '../../text/visible.js';
import { sealDefinition } from '../message/json.js';
import type { MessageInput } from '../message/message.js';
import { ERROR } from './error.js';
import {
  member,
  type Profile,
  type ProfileContext,
  type ProfileMessage,
  requireCorrelation,
  violation,
} from './profile.js';
import { TOOL } from './tool.js';
import { TRANSACTION } from './transaction.js';

export type { KnownRequest, Profile, ProfileContext, ProfileMessage } from './profile.js';
export { defineTools, type Tool, type Tools } from './profile.js';

/** CH: conversation (draft-benzing-accp-00, section 10.1): fields and defaults only. */
const CHAT: Profile = {
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

/** Options of {@link chatMessage}: fields of the chat profile (section 10.1). */
export interface ChatOptions {
  /** The role of the speaker: `user`, `assistant`, ... @default 'assistant' */
  readonly role?: string | undefined;
  /** The number of the turn in the conversation. */
  readonly turn?: number | undefined;
  /** The language of the text, such as `de`. @default 'en' */
  readonly lang?: string | undefined;
  /** The identifier of the message that this one answers. */
  readonly replyTo?: string | undefined;
  /** The intent. @default `done` for the assistant, otherwise `req`, as in the examples of the draft */
  readonly intent?: string | undefined;
}

/**
 * Creates a message of the chat profile from a text.
 *
 * Source: draft-benzing-accp-00, section 10.1.
 */
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

/** ST: results in chunks (draft-benzing-accp-00, section 10.4). `streams/` buffers and orders them. */
const STREAMING: Profile = {
  code: 'ST',
  name: 'Streaming',
  schemaName: 'stream_chunk',
  schema: sealDefinition({
    code: 'ST',
    version: 1,
    fields: ['chunk_index', 'total_chunks', 'data', 'is_final'],
    defaults: { is_final: false },
    // Chunks hold any data: text in the examples, parts of artifacts in section 11.4.
    types: { chunk_index: 'integer', total_chunks: 'integer', data: 'any', is_final: 'boolean' },
  }),
  check: checkStreaming,
};

function checkStreaming(message: ProfileMessage): void {
  const { intent, schema } = message;
  if (intent === 'stream' || intent === 'end' || schema === 'ST') {
    requireCorrelation(message, 'A frame of a stream must have the correlation_id of the stream (section 10.4).');
  }
  if (schema === 'ST') checkChunk(message);
}

function checkChunk(message: ProfileMessage): void {
  const index = member(message, 'chunk_index');
  const total = member(message, 'total_chunks');
  const isFinal = member(message, 'is_final');
  // The end of a stream need not be a chunk; but data without an index cannot be ordered.
  if (index === undefined && (message.intent === 'stream' || hasData(message))) {
    throw violation('payload.chunk_index', 'A chunk must have an index, a non-negative integer.');
  }
  if (index !== undefined && !isCount(index, 0)) {
    throw violation('payload.chunk_index', 'The index of a chunk must be a non-negative integer.');
  }
  if (total !== undefined && !isCount(total, 1)) {
    throw violation('payload.total_chunks', 'The number of chunks must be a positive integer.');
  }
  if (isFinal !== undefined && typeof isFinal !== 'boolean') {
    throw violation('payload.is_final', 'The value must be true or false.');
  }
  if (index === undefined || total === undefined) return;
  if (index >= total) {
    throw violation('payload.chunk_index', `The index must be below the number of chunks, ${total}; got ${index}.`);
  }
  if ((index === total - 1) !== (isFinal ?? false)) {
    throw violation('payload.is_final', 'Only the final chunk must have is_final=true (section 10.4).');
  }
}

function hasData(message: ProfileMessage): boolean {
  return message.intent === 'end' && member(message, 'data') !== undefined;
}

function isCount(value: unknown, from: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= from;
}

/** TA: assignment of tasks (draft-benzing-accp-00, section 10.5): fields and defaults only. */
const WORKFLOW: Profile = {
  code: 'TA',
  name: 'Workflow',
  schemaName: 'task_assignment',
  schema: sealDefinition({
    code: 'TA',
    // As in the draft's registry example (section 6.2).
    version: 2,
    fields: ['assignee', 'task', 'priority', 'deadline', 'deps'],
    defaults: { priority: 'medium', deps: [] },
    types: { assignee: 'string', task: 'string', priority: 'string', deadline: 'string', deps: 'array' },
  }),
  check: () => {},
};

/** The profiles in the order of section 10, then errors (section 3.6), which are always active. */
export const PROFILES: readonly Profile[] = Object.freeze([CHAT, TOOL, TRANSACTION, STREAMING, WORKFLOW, ERROR]);

const CODES: ReadonlySet<string> = new Set(PROFILES.map(({ code }) => code));

/**
 * Checks a sent or received message by the profiles whose schema codes are `active`; `ER` always is.
 *
 * @throws AccpError E1003 if the profile is inactive; E1004 if a rule is broken; E4001 for unknown tools; E4003 for invalid arguments
 */
export function checkProfiles(message: ProfileMessage, context: ProfileContext, active: ReadonlySet<string>): void {
  const { schema } = message;
  if (schema !== undefined && CODES.has(schema) && schema !== ERROR.code && !active.has(schema)) {
    throw violation('schema', `The profile of the schema ${quotedShort(schema)} is not active.`, undefined, 'E1003');
  }
  for (const profile of PROFILES) {
    if (profile === ERROR || active.has(profile.code)) profile.check(message, context);
  }
}
