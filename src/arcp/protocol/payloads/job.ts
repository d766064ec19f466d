/**
 * Payloads of durable jobs (spec 003, "Jobs"). All messages of a job name it in their envelope. Members that the specification does not
 * demand are optional, so that messages of other implementations are read.
 */
import * as z from 'zod/mini';
import { errorFields } from '../errors.js';
import { attempt, count, id, jobState, milliseconds, name, timestamp } from './parts.js';

export const jobAccepted = z.looseObject({
  /** Absent where the envelope alone names the job. */
  job_id: z.optional(id),
  state: z.optional(z.enum(['accepted', 'queued'])),
  accepted_at: z.optional(timestamp),
  queue_position: z.optional(count),
  tool: z.optional(name),
  workflow: z.optional(name),
  agent: z.optional(name),
  parent_job_id: z.optional(id),
  /** The same operation key has started this job before. */
  duplicate: z.optional(z.boolean()),
});

export const jobStarted = z.looseObject({
  job_id: z.optional(id),
  attempt: z.optional(attempt),
  started_at: z.optional(timestamp),
  worker: z.optional(z.string()),
  /** The checkpoint that it goes on from. */
  restored_from: z.optional(id),
  lease: z.optional(z.looseObject({ lease_id: id, expires_at: timestamp })),
});

export const jobProgress = z.looseObject({
  percent: z.optional(z.number().check(z.minimum(0), z.maximum(100))),
  message: z.optional(z.string()),
  current: z.optional(z.number()),
  total: z.optional(z.number()),
  unit: z.optional(z.string()),
  phase: z.optional(z.string()),
  state: z.optional(z.string()),
});

export const jobHeartbeat = z.looseObject({
  sequence: z.optional(count),
  state: z.optional(jobState),
  /** After so long without another one, nobody works on it any more. */
  deadline_ms: z.optional(milliseconds),
  attempt: z.optional(attempt),
  last_progress_at: z.optional(timestamp),
});

export const jobCheckpoint = z.looseObject({
  checkpoint_id: id,
  label: z.optional(z.string()),
  sequence: z.optional(count),
  size_bytes: z.optional(count),
  digest: z.optional(z.string()),
  attempt: z.optional(attempt),
  /** What was kept, where the client may see it. */
  data: z.optional(z.unknown()),
  automatic: z.optional(z.boolean()),
});

export const jobCompleted = z.looseObject({
  result: z.optional(z.unknown()),
  result_ref: z.optional(z.unknown()),
  attempt: z.optional(attempt),
  duration_ms: z.optional(z.number().check(z.minimum(0))),
  completed_at: z.optional(timestamp),
});

export const jobFailed = z.looseObject({
  ...errorFields,
  attempt: z.optional(attempt),
  failed_at: z.optional(timestamp),
  last_checkpoint_id: z.optional(id),
});

/** Who or what ended it (spec 003, "Jobs": "cancelled by a client, runtime, policy, or timeout"). */
export const CANCEL_CAUSES = ['client', 'runtime', 'policy', 'timeout'] as const;
export type CancelCause = (typeof CANCEL_CAUSES)[number];

export const jobCancelled = z.looseObject({
  reason: z.optional(z.string()),
  cause: z.optional(z.enum(CANCEL_CAUSES)),
  cancelled_at: z.optional(timestamp),
  /** The work did not end by itself. */
  forced: z.optional(z.boolean()),
  last_checkpoint_id: z.optional(id),
});
