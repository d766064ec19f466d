/**
 * Payloads of tool calls, durable jobs, workflows and agents (spec 003, "Execution Messages", "Jobs", "Multi-Agent Coordination").
 * Members that the specification does not demand are optional, so that messages of other implementations are read.
 */
import * as z from 'zod';
import { errorBodySchema, errorFields, names } from '../errors.js';
import { attempt, count, id, jobState, members, milliseconds, name, retryPolicy, timestamp } from './parts.js';

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

/** One step of a workflow that is given with the command: a tool, an agent or another workflow. */
export const workflowStepSchema = z
  .looseObject({
    id: name,
    tool: name.optional(),
    agent: name.optional(),
    workflow: name.optional(),
    /** Steps that have to be done before. */
    needs: z.array(name).optional(),
    arguments: members.optional(),
    when: z.unknown().optional(),
  })
  .refine((step) => [step.tool, step.agent, step.workflow].filter((target) => target !== undefined).length === 1, {
    error: 'a step has a tool, an agent or a workflow',
  })
  .register(names, { id: 'WorkflowStep' });

export const workflowStart = z.looseObject({
  workflow: name,
  inputs: members.optional(),
  version: z.string().optional(),
  operation_key: z.string().min(1).max(1024).optional(),
  timeout_ms: milliseconds.optional(),
  retry: retryPolicy.optional(),
  steps: z.array(workflowStepSchema).min(1).optional(),
});

export const workflowComplete = z.looseObject({
  /** @default failed if there is an error, else completed */
  status: z.enum(['completed', 'failed', 'cancelled']).optional(),
  outputs: z.unknown().optional(),
  error: errorBodySchema.optional(),
  steps: z.array(z.looseObject({ id: name, status: z.string() })).optional(),
  duration_ms: z.number().min(0).optional(),
});

export const agentDelegate = z.looseObject({
  target: name,
  task: z.string(),
  context: z
    .looseObject({
      trace_id: z.string().optional(),
      shared_context_id: id.optional(),
      /** Of those that the delegating job has; never more. */
      permissions_inherited: z.array(name).optional(),
      values: members.optional(),
    })
    .optional(),
  arguments: members.optional(),
  deadline: timestamp.optional(),
  mode: z.string().optional(),
  operation_key: z.string().min(1).max(1024).optional(),
});

export const agentHandoff = z
  .looseObject({
    target: name.optional(),
    to_runtime: z
      .looseObject({ kind: name, url: z.string().optional(), fingerprint: z.string().optional() })
      .optional(),
    job_id: id.optional(),
    session_id: id.optional(),
    reason: z.string().optional(),
    checkpoint_id: id.optional(),
    shared_context_id: id.optional(),
    permissions: z.array(name).optional(),
  })
  .refine(({ target, to_runtime }) => target !== undefined || to_runtime !== undefined, {
    error: 'a handoff goes to a target or to a runtime',
  });
