/**
 * Payloads of durable jobs (spec 003, "Jobs"). All messages of a job name it in their envelope. Members that the specification does not
 * demand are optional, so that messages of other implementations are read.
 */
import * as z from 'zod';
import { errorFields } from '../errors.js';
import { attempt, count, id, jobState, milliseconds, name, timestamp } from './parts.js';

export const jobAccepted = z.looseObject({
  /** Absent where the envelope alone names the job. */
  job_id: id.optional(),
  state: z.enum(['accepted', 'queued']).optional(),
  accepted_at: timestamp.optional(),
  queue_position: count.optional(),
  tool: name.optional(),
  workflow: name.optional(),
  agent: name.optional(),
  parent_job_id: id.optional(),
  /** The same operation key has started this job before. */
  duplicate: z.boolean().optional(),
});

export const jobStarted = z.looseObject({
  job_id: id.optional(),
  attempt: attempt.optional(),
  started_at: timestamp.optional(),
  worker: z.string().optional(),
  /** The checkpoint that it goes on from. */
  restored_from: id.optional(),
  lease: z.looseObject({ lease_id: id, expires_at: timestamp }).optional(),
});

export const jobProgress = z.looseObject({
  percent: z.number().min(0).max(100).optional(),
  message: z.string().optional(),
  current: z.number().optional(),
  total: z.number().optional(),
  unit: z.string().optional(),
  phase: z.string().optional(),
  state: z.string().optional(),
});

export const jobHeartbeat = z.looseObject({
  sequence: count.optional(),
  state: jobState.optional(),
  /** After so long without another one, nobody works on it any more. */
  deadline_ms: milliseconds.optional(),
  attempt: attempt.optional(),
  last_progress_at: timestamp.optional(),
});

export const jobCheckpoint = z.looseObject({
  checkpoint_id: id,
  label: z.string().optional(),
  sequence: count.optional(),
  size_bytes: count.optional(),
  digest: z.string().optional(),
  attempt: attempt.optional(),
  /** What was kept, where the client may see it. */
  data: z.unknown().optional(),
  automatic: z.boolean().optional(),
});

export const jobCompleted = z.looseObject({
  result: z.unknown().optional(),
  result_ref: z.unknown().optional(),
  attempt: attempt.optional(),
  duration_ms: z.number().min(0).optional(),
  completed_at: timestamp.optional(),
});

export const jobFailed = z.looseObject({
  ...errorFields,
  attempt: attempt.optional(),
  failed_at: timestamp.optional(),
  last_checkpoint_id: id.optional(),
});

/** Who or what ended it (spec 003, "Jobs": "cancelled by a client, runtime, policy, or timeout"). */
export const CANCEL_CAUSES = ['client', 'runtime', 'policy', 'timeout'] as const;
export type CancelCause = (typeof CANCEL_CAUSES)[number];

export const jobCancelled = z.looseObject({
  reason: z.string().optional(),
  cause: z.enum(CANCEL_CAUSES).optional(),
  cancelled_at: timestamp.optional(),
  /** The work did not end by itself. */
  forced: z.boolean().optional(),
  last_checkpoint_id: id.optional(),
});
