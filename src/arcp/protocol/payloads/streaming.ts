/** Payloads of streams (spec 003, "Streams"). All messages of a stream name it in their envelope. */
import * as z from 'zod/mini';
import { errorFields } from '../errors.js';
import { count, id, name } from './parts.js';

/** The contents of streams: text, binary, structured events, logs, telemetry. */
export const STREAM_KINDS = ['text', 'binary', 'event', 'log', 'telemetry'] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** Maps a name to a kind: `metric` is telemetry, and an unknown name is `event`. */
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
  /** From 0 without gaps; absent if the sender relies on the order of the transport. */
  sequence: z.optional(count),
  /** Text, or bytes in base64. */
  data: z.optional(z.string()),
  event: z.optional(z.unknown()),
  log: z.optional(z.unknown()),
  metric: z.optional(z.unknown()),
  encoding: z.optional(encoding),
  /** Of the last of the chunks joined in this one. */
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
