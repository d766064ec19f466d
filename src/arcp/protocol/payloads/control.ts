/** Payloads that answer, steer and resume (spec 003, "Control Messages", "Resumability"). */
import * as z from 'zod/mini';
import { errorFields } from '../errors.js';
import { count, id, members, milliseconds, timestamp } from './parts.js';

export const ack = z.looseObject({
  /** Absent where `correlation_id` alone names the message. */
  ack_for: z.optional(id),
  received_at: z.optional(timestamp),
  status: z.optional(z.enum(['accepted', 'duplicate', 'done'])),
  /** All that was sent to this session up to this message has arrived. */
  up_to: z.optional(id),
  details: z.optional(members),
});

export const nack = z.looseObject({ ...errorFields, nack_for: z.optional(id) });

export const cancel = z.looseObject({
  reason: z.optional(z.string()),
  /** How long the work may go on before it is ended by force. */
  deadline_ms: z.optional(milliseconds),
  target: z.optional(z.enum(['job', 'stream', 'session'])),
  target_id: z.optional(id),
});

export const resume = z.looseObject({
  after_message_id: z.optional(id),
  checkpoint_id: z.optional(id),
  include_open_streams: z.optional(z.boolean()),
  /** `continue` also sets a paused job going again. */
  mode: z.optional(z.enum(['replay', 'continue'])),
  limit: z.optional(count),
});

export const backpressure = z.looseObject({
  /** Chunks; 0 is a pause, and none given is no bound. */
  desired_rate_per_second: z.optional(z.number().check(z.minimum(0))),
  buffer_remaining_bytes: z.optional(count),
  reason: z.optional(z.string()),
});

export const checkpointCreate = z.looseObject({
  label: z.optional(z.string()),
  // biome-ignore lint/suspicious/noThenProperty: it is called so on the wire, and nothing awaits a table of schemas.
  then: z.optional(z.enum(['continue', 'pause'])),
});

export const checkpointRestore = z.looseObject({ checkpoint_id: id, new_job: z.optional(z.boolean()) });
