/**
 * The checks of a careful program without ACCP for the same messages, as a zod schema: the envelope field by field, the
 * payloads of the profiles with their types and defaults, other payloads as objects. It is as fast as possible: it
 * discriminates by `schema`, and does not inspect values that may be any JSON, which `JSON.parse` has checked.
 */
import * as z from 'zod';
import { ERROR_CODES } from '../../src/accp/codec/index.js';
import { INTENTS } from '../../src/accp/vocabulary.js';

const name = z.string().regex(/^[A-Za-z0-9_-]+$/);
const identifier = z.string().min(1).max(256);
const count = z.int().min(0);

const envelope = z.strictObject({
  msg_id: identifier,
  sequence: count,
  timestamp: count.optional(),
  correlation_id: identifier.optional(),
  causation_id: identifier.optional(),
  session_id: identifier.optional(),
  ttl: count.optional(),
});

const head = {
  agent: name,
  intent: z.enum(Object.keys(INTENTS) as [string, ...string[]]),
  operation: name,
  envelope,
};

const any = z.unknown();

/** The fields of a profile. Messages may have others in addition. */
function profile<Code extends string>(code: Code, fields: z.core.$ZodLooseShape) {
  return z.strictObject({ ...head, schema: z.literal(code), payload: z.looseObject(fields) });
}

const chat = profile('CH', {
  role: z.string().default('assistant'),
  content: z.string().optional(),
  turn: z.int().optional(),
  lang: z.string().default('en'),
  reply_to: z.string().optional(),
});

const tool = profile('TC', {
  tool_name: z.string().optional(),
  arguments: z.record(z.string(), any).optional(),
  result: any.optional(),
  status: z.string().default('ok'),
  error_code: z.string().optional(),
});

const transaction = profile('TX', {
  transaction_id: z.string().min(1),
  amount: z.number().optional(),
  currency: z.string().default('USD'),
  account: z.string().optional(),
  reference: z.string().optional(),
  status: z.string().default('pending'),
  retryable: z.boolean().default(false),
});

const chunk = profile('ST', {
  chunk_index: count.optional(),
  total_chunks: z.int().min(1).optional(),
  data: any.optional(),
  is_final: z.boolean().default(false),
});

const task = profile('TA', {
  assignee: z.string().optional(),
  task: z.string().optional(),
  priority: z.string().default('medium'),
  deadline: z.string().optional(),
  deps: z.array(any).default(() => []),
});

const error = profile('ER', {
  code: z.enum(Object.keys(ERROR_CODES) as [string, ...string[]]),
  message: z.string(),
  retryable: z.boolean(),
});

const other = z.strictObject({ ...head, schema: z.undefined().optional(), payload: z.record(z.string(), any) });

const messageSchema = z.discriminatedUnion('schema', [chat, tool, transaction, chunk, task, error, other]);

/** Checks a message, and returns it as JSON. */
export function writeMessage(message: unknown): string {
  return JSON.stringify(messageSchema.parse(message));
}

/** Parses JSON and checks that it is a message. */
export function readMessage(text: string): unknown {
  return messageSchema.parse(JSON.parse(text));
}
