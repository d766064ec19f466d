/** Payloads of tool calls (spec 003, "Execution Messages", "Invocation Flow"). */
import * as z from 'zod/mini';
import { errorFields } from '../errors.js';
import { attempt, id, members, milliseconds, name, retryPolicy } from './parts.js';

export const toolInvoke = z.looseObject({
  tool: name,
  arguments: z.optional(members),
  /** `direct` ends with `tool.result` or `tool.error`, `job` with one of `job.*`. */
  mode: z.optional(z.enum(['auto', 'direct', 'job'])),
  /** Of two calls with the same key only one is carried out; both are told its outcome. */
  operation_key: z.optional(z.string().check(z.minLength(1), z.maxLength(1024))),
  timeout_ms: z.optional(milliseconds),
  retry: z.optional(retryPolicy),
  checkpoint_id: z.optional(id),
  stream: z.optional(z.boolean()),
  prompt: z.optional(z.unknown()),
});

export const toolResult = z.looseObject({
  result: z.optional(z.unknown()),
  /** Another name of `result`, which is read, too. */
  value: z.optional(z.unknown()),
  content_type: z.optional(z.string()),
  duration_ms: z.optional(z.number().check(z.minimum(0))),
  result_ref: z.optional(z.unknown()),
});

export const toolError = z.looseObject({
  ...errorFields,
  attempt: z.optional(attempt),
  will_retry: z.optional(z.boolean()),
});
