/** The message corpus as the messages of one session, which can be sent repeatedly. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Envelope, JsonObject, MessageInput } from '../../src/accp/codec/index.js';
import { projectRoot } from '../root.js';

/** A message of the corpus, with its whole envelope, as a program without ACCP would send it in JSON. */
export interface CorpusMessage {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string;
  readonly payload: JsonObject;
  readonly envelope: Envelope;
}

/** The session of all messages. */
const SESSION_ID = 'sprint14-auth';

/**
 * Returns the messages, with few changes to make one session of the corpus's five: numbers and session continue from
 * one to the next, the result of a tool names its request, and the stream is complete.
 */
export function corpusMessages(): CorpusMessage[] {
  const file = path.join(projectRoot(), 'bench/corpus/messages.json');
  const messages = JSON.parse(readFileSync(file, 'utf8')) as { readonly message: CorpusMessage }[];
  let toolRequest: string | undefined;
  let version = 0;
  let chunk = 0;
  const chunks = messages.filter(({ message }) => message.schema === 'ST').length;
  return messages.map(({ message }, index) => {
    const { intent, schema, operation } = message;
    if (schema === 'TC' && intent === 'req') toolRequest = message.envelope.msg_id;
    const answers = schema === 'TC' && intent === 'done' ? toolRequest : message.envelope.correlation_id;
    let { payload } = message;
    if (operation === 'state') payload = { ...payload, version: ++version };
    if (schema === 'ST') {
      payload = { ...payload, chunk_index: chunk++, total_chunks: chunks, is_final: chunk === chunks };
    }
    const envelope = { ...message.envelope, sequence: index + 1, session_id: SESSION_ID };
    return {
      ...message,
      payload,
      envelope: answers === undefined ? envelope : { ...envelope, correlation_id: answers },
    };
  });
}

/** The `correlation_id` of a stream of the corpus is its own; that of other messages is a request's `msg_id`. */
export function isStream({ schema }: CorpusMessage): boolean {
  return schema === 'ST';
}

/**
 * Converts a message to an input of `encode` for one round through the corpus. Identifiers and versions are new in each
 * round.
 *
 * @param idOf returns the identifier of this round for one of the corpus
 * @param rounds the number of previous rounds
 */
export function asInput(message: CorpusMessage, idOf: (id: string) => string, version: number): MessageInput {
  const { agent, intent, operation, schema, envelope } = message;
  const { msg_id, correlation_id: cid, ttl } = envelope;
  const payload = operation === 'state' ? { ...message.payload, version } : message.payload;
  const own = { msg_id: idOf(msg_id), correlation_id: cid === undefined ? undefined : idOf(cid), ttl };
  return { agent, intent, operation, schema, payload, envelope: own };
}
