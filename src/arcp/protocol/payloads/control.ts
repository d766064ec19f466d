/** Payloads that answer, steer and resume (spec 003, "Control Messages", "Resumability"). */
import * as z from 'zod';
import { errorFields } from '../errors.js';
import { count, id, members, milliseconds, timestamp } from './parts.js';

export const ack = z.looseObject({
  /** Absent where `correlation_id` alone names the message. */
  ack_for: id.optional(),
  received_at: timestamp.optional(),
  status: z.enum(['accepted', 'duplicate', 'done']).optional(),
  /** All that was sent to this session up to this message has arrived. */
  up_to: id.optional(),
  details: members.optional(),
});

export const nack = z.looseObject({ ...errorFields, nack_for: id.optional() });

export const cancel = z.looseObject({
  reason: z.string().optional(),
  /** How long the work may go on before it is ended by force. */
  deadline_ms: milliseconds.optional(),
  target: z.enum(['job', 'stream', 'session']).optional(),
  target_id: id.optional(),
});

export const resume = z.looseObject({
  after_message_id: id.optional(),
  checkpoint_id: id.optional(),
  include_open_streams: z.boolean().optional(),
  /** `continue` also sets a paused job going again. */
  mode: z.enum(['replay', 'continue']).optional(),
  limit: count.optional(),
});

export const backpressure = z.looseObject({
  /** Chunks; 0 is a pause, and none given is no bound. */
  desired_rate_per_second: z.number().min(0).optional(),
  buffer_remaining_bytes: count.optional(),
  reason: z.string().optional(),
});

export const checkpointCreate = z.looseObject({
  label: z.string().optional(),
  // biome-ignore lint/suspicious/noThenProperty: it is called so on the wire, and nothing awaits a table of schemas.
  then: z.enum(['continue', 'pause']).optional(),
});

export const checkpointRestore = z.looseObject({ checkpoint_id: id, new_job: z.boolean().optional() });
