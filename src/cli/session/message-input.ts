/** Messages as JSON, as `pegwire encode` reads them. */
import * as z from 'zod';
import { AccpError } from '../../accp/errors.js';
import type { Json, JsonObject } from '../../accp/message/json.js';
import { Reference } from '../../accp/message/json.js';
import type { Loss, MessageInput } from '../../accp/message/message.js';
import { roundedAmount } from '../../accp/profiles/transaction.js';
import { parseExactJson } from '../io/exact-json.js';

export interface InputOptions {
  /** Whether `{"$ref":"warm.x"}` is a reference. */
  readonly refs: boolean;
  /** Whether to keep the sequence and session of the envelope. */
  readonly keepEnvelope: boolean;
}

export interface ReadMessage {
  /** A string is a message of the chat profile. */
  readonly message: MessageInput | string;
  readonly losses: readonly Loss[];
}

/** The amount of a transaction. */
const AMOUNT = /^payload\.(?:amount|amt)$/;

/** Only the codec knows what cannot be written. */
const payload = z.custom<JsonObject>((value) => isMap(value), { error: 'is no object' });

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

/** Reads one message. @throws SyntaxError on invalid JSON, AccpError E1004 on an invalid message */
export function readMessage(line: string, { refs, keepEnvelope }: InputOptions): ReadMessage {
  const { value: read, losses } = parseExactJson(line);
  if (typeof read === 'string') return { message: read, losses };
  const value = refs ? withReferences(read, '') : read;
  const result = messageSchema.safeParse(value);
  if (!result.success) throw refused(result.error);
  const { envelope, ...message } = result.data;
  if (message.schema === 'TX' && losses.some(({ path }) => AMOUNT.test(path))) throw roundedAmount();
  if (envelope === undefined || keepEnvelope) return { message: result.data, losses };
  const { sequence: _, session_id: __, ...kept } = envelope;
  return { message: { ...message, envelope: kept }, losses };
}

function refused({ issues }: z.ZodError): AccpError {
  const { path, message } = issues[0]!;
  const at = path.length === 0 ? undefined : path.map(String).join('.');
  return new AccpError({
    code: 'E1004',
    path: at,
    message: at === undefined ? `A message is an object: ${message}` : message,
    help: 'a message: {"intent":"req","operation":"find","payload":{"query":"cats"}}',
  });
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference);
}

/** Replaces objects with the only key `$ref`. */
function withReferences(value: Json, path: string): Json {
  if (typeof value !== 'object' || value === null || value instanceof Reference) return value;
  if (isList(value)) return value.map((item, index) => withReferences(item, `${path}[${index}]`));
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] === '$ref') return referenceOf(value['$ref'], path);
  const made: Record<string, Json> = Object.create(null);
  for (const key of keys) made[key] = withReferences(value[key]!, path === '' ? key : `${path}.${key}`);
  return made;
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
