/** Payloads of tool calls (spec 003, "Execution Messages", "Invocation Flow"). */
import * as z from 'zod';
import { errorFields } from '../errors.js';
import { attempt, id, members, milliseconds, name, retryPolicy } from './parts.js';

export const toolInvoke = z.looseObject({
  tool: name,
  arguments: members.optional(),
  /** `direct` ends with `tool.result` or `tool.error`, `job` with one of `job.*`. */
  mode: z.enum(['auto', 'direct', 'job']).optional(),
  /** Of two calls with the same key only one is carried out; both are told its outcome. */
  operation_key: z.string().min(1).max(1024).optional(),
  timeout_ms: milliseconds.optional(),
  retry: retryPolicy.optional(),
  checkpoint_id: id.optional(),
  stream: z.boolean().optional(),
  prompt: z.unknown().optional(),
});

export const toolResult = z.looseObject({
  result: z.unknown().optional(),
  /** Another name of `result`, which is read, too. */
  value: z.unknown().optional(),
  content_type: z.string().optional(),
  duration_ms: z.number().min(0).optional(),
  result_ref: z.unknown().optional(),
});

export const toolError = z.looseObject({
  ...errorFields,
  attempt: attempt.optional(),
  will_retry: z.boolean().optional(),
});
