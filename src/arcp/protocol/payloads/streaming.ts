/** Payloads of streams (spec 003, "Streams"). The envelope of each message names its stream. */
import * as z from 'zod/mini';
import { errorFields } from '../errors.js';
import { count, id, name } from './parts.js';

/** The kinds of streams: text, binary, structured events, logs, telemetry. */
export const STREAM_KINDS = ['text', 'binary', 'event', 'log', 'telemetry'] as const;
/** The kind of a stream. */
export type StreamKind = (typeof STREAM_KINDS)[number];

/** Returns the kind of a name: `telemetry` for `metric`, and `event` if the name is unknown. */
export function streamKindOf(kind = 'text'): StreamKind {
  if (kind === 'metric') return 'telemetry';
  return (STREAM_KINDS as readonly string[]).includes(kind) ? (kind as StreamKind) : 'event';
}

const encoding = z.enum(['utf-8', 'base64']);

export const streamOpen = z.looseObject({
  /** @default text */
  kind: z.optional(name),
  content_type: z.optional(z.string()),
  encoding: z.optional(encoding),
  name: z.optional(z.string()),
  related_job_id: z.optional(id),
  expected_bytes: z.optional(count),
});

export const streamChunk = z.looseObject({
  /** The sequence number, starting at 0 without gaps; absent if the sender relies on the order of the transport. */
  sequence: z.optional(count),
  /** Text, or bytes in base64. */
  data: z.optional(z.string()),
  event: z.optional(z.unknown()),
  log: z.optional(z.unknown()),
  metric: z.optional(z.unknown()),
  encoding: z.optional(encoding),
  /** The sequence number of the last chunk that was joined into this one. */
  last_sequence: z.optional(count),
  sha256: z.optional(z.string()),
});

export const streamClose = z.looseObject({
  reason: z.optional(z.string()),
  total_chunks: z.optional(count),
  total_bytes: z.optional(count),
  sha256: z.optional(z.string()),
});

export const streamError = z.looseObject(errorFields);
