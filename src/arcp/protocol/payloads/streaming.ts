/** Payloads of streams (spec 003, "Streams"). All messages of a stream name it in their envelope. */
import * as z from 'zod';
import { errorFields } from '../errors.js';
import { count, id, name } from './parts.js';

/** What a stream carries: text, binary, structured events, logs, telemetry. */
export const STREAM_KINDS = ['text', 'binary', 'event', 'log', 'telemetry'] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** The kind that a name stands for: `metric` is telemetry, and what nobody here knows are events. */
export function streamKindOf(kind = 'text'): StreamKind {
  if (kind === 'metric') return 'telemetry';
  return (STREAM_KINDS as readonly string[]).includes(kind) ? (kind as StreamKind) : 'event';
}

const encoding = z.enum(['utf-8', 'base64']);

export const streamOpen = z.looseObject({
  /** @default text */
  kind: name.optional(),
  content_type: z.string().optional(),
  encoding: encoding.optional(),
  name: z.string().optional(),
  related_job_id: id.optional(),
  expected_bytes: count.optional(),
});

export const streamChunk = z.looseObject({
  /** Numbers without gaps from 0; absent where the sender relies on the order of the transport. */
  sequence: count.optional(),
  /** Text, or bytes in base64. */
  data: z.string().optional(),
  event: z.unknown().optional(),
  log: z.unknown().optional(),
  metric: z.unknown().optional(),
  encoding: encoding.optional(),
  /** Of the last of the chunks that became this one. */
  last_sequence: count.optional(),
  sha256: z.string().optional(),
});

export const streamClose = z.looseObject({
  reason: z.string().optional(),
  total_chunks: count.optional(),
  total_bytes: count.optional(),
  sha256: z.string().optional(),
});

export const streamError = z.looseObject(errorFields);
