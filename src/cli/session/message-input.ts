/** Messages as JSON, in the form that `pegwire encode` reads. */
import * as z from 'zod';
import { AccpError } from '../../accp/errors.js';
import type { Json, JsonObject } from '../../accp/message/json.js';
import { Reference } from '../../accp/message/json.js';
import type { Loss, MessageInput } from '../../accp/message/message.js';
import { roundedAmount } from '../../accp/profiles/transaction.js';
import { issueMessage } from '../../text/issue-message.js';
import { parseExactJson } from '../io/exact-json.js';

export interface InputOptions {
  /** If true, `{"$ref":"warm.x"}` is a reference; otherwise it is data. */
  readonly refs: boolean;
  /** If true, `sequence` and `session_id` of the envelope are kept. */
  readonly keepEnvelope: boolean;
}

export interface ReadMessage {
  /** A string is a message of the CH (chat) profile. */
  readonly message: MessageInput | string;
  readonly losses: readonly Loss[];
}

/** The path of the amount of a transaction. */
const AMOUNT = /^payload\.(?:amount|amt)$/;

/** The codec checks the values, since it knows which cannot be written. */
const payload = z.custom<JsonObject>((value) => isMap(value), { error: 'must be an object' });

const seconds = z.int().min(0).exactOptional();
const text = z.string().exactOptional();

const messageSchema = z.strictObject({
  agent: text,
  intent: z.string(),
  operation: z.string(),
  schema: text,
  payload: payload.exactOptional(),
  envelope: z
    .strictObject({
      msg_id: text,
      sequence: z.int().exactOptional(),
      timestamp: seconds,
      correlation_id: text,
      causation_id: text,
      session_id: text,
      ttl: seconds,
    })
    .exactOptional(),
});

/** Parses one message. @throws SyntaxError if the line is not JSON @throws AccpError E1004 if the message is invalid */
export function readMessage(line: string, { refs, keepEnvelope }: InputOptions): ReadMessage {
  const { value: read, losses } = parseExactJson(line);
  if (typeof read === 'string') return { message: read, losses };
  const value = refs ? withReferences(read, '') : read;
  const result = messageSchema.safeParse(value, { error: issueMessage });
  if (!result.success) throw invalidMessage(result.error);
  const { envelope, ...message } = result.data;
  if (message.schema === 'TX' && losses.some(({ path }) => AMOUNT.test(path))) throw roundedAmount();
  if (envelope === undefined || keepEnvelope) return { message: result.data, losses };
  const { sequence: _, session_id: __, ...kept } = envelope;
  return { message: { ...message, envelope: kept }, losses };
}

function invalidMessage({ issues }: z.ZodError): AccpError {
  const { path, message } = issues[0]!;
  const at = path.length === 0 ? undefined : path.map(String).join('.');
  return new AccpError({
    code: 'E1004',
    path: at,
    message: at === undefined ? `A message ${message}` : message,
    help: 'write a message such as {"intent":"req","operation":"find","payload":{"query":"cats"}}',
  });
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference);
}

/** Replaces each object whose only key is `$ref` with a reference. */
function withReferences(value: Json, path: string): Json {
  if (typeof value !== 'object' || value === null || value instanceof Reference) return value;
  if (isList(value)) return value.map((item, index) => withReferences(item, `${path}[${index}]`));
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] === '$ref') return referenceOf(value['$ref'], path);
  const object: Record<string, Json> = Object.create(null);
  for (const key of keys) object[key] = withReferences(value[key]!, path === '' ? key : `${path}.${key}`);
  return object;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function referenceOf(target: Json | undefined, path: string): Reference {
  try {
    return new Reference(String(target));
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new AccpError({ code: 'E1004', path, message: thrown.message });
  }
}
