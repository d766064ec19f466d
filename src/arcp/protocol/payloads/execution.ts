/**
 * Payloads of tool calls, durable jobs, workflows and agents (spec 003, "Execution Messages", "Jobs", "Multi-Agent Coordination").
 * Members that the specification does not require are optional, so that messages of other implementations can be read.
 */
import * as z from 'zod/mini';
import { errorBodySchema, errorFields, names } from '../errors.js';
import { attempt, count, id, jobState, members, milliseconds, name, retryPolicy, timestamp } from './parts.js';

export const toolInvoke = z.looseObject({
  tool: name,
  arguments: z.optional(members),
  /** `direct` ends with `tool.result` or `tool.error`, `job` with one of `job.*`. */
  mode: z.optional(z.enum(['auto', 'direct', 'job'])),
  operation_key: z.optional(z.string().check(z.minLength(1), z.maxLength(1024))),
  timeout_ms: z.optional(milliseconds),
  retry: z.optional(retryPolicy),
  checkpoint_id: z.optional(id),
  stream: z.optional(z.boolean()),
  prompt: z.optional(z.unknown()),
});

export const toolResult = z.looseObject({
  result: z.optional(z.unknown()),
  /** An alias of `result`. */
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

export const jobAccepted = z.looseObject({
  job_id: z.optional(id),
  state: z.optional(z.enum(['accepted', 'queued'])),
  accepted_at: z.optional(timestamp),
  queue_position: z.optional(count),
  tool: z.optional(name),
  workflow: z.optional(name),
  agent: z.optional(name),
  parent_job_id: z.optional(id),
  duplicate: z.optional(z.boolean()),
});

export const jobStarted = z.looseObject({
  job_id: z.optional(id),
  attempt: z.optional(attempt),
  started_at: z.optional(timestamp),
  worker: z.optional(z.string()),
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
  /** The worker is lost if no other heartbeat arrives in this time. */
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

/** The causes of cancellations (spec 003, "Jobs": "cancelled by a client, runtime, policy, or timeout"). */
export const CANCEL_CAUSES = ['client', 'runtime', 'policy', 'timeout'] as const;
/** The cause of a cancellation. */
export type CancelCause = (typeof CANCEL_CAUSES)[number];

export const jobCancelled = z.looseObject({
  reason: z.optional(z.string()),
  cause: z.optional(z.enum(CANCEL_CAUSES)),
  cancelled_at: z.optional(timestamp),
  /** `true` if the handler did not end before the deadline and was abandoned. */
  forced: z.optional(z.boolean()),
  last_checkpoint_id: z.optional(id),
});

export const workflowStepSchema = z
  .looseObject({
    id: name,
    tool: z.optional(name),
    agent: z.optional(name),
    workflow: z.optional(name),
    needs: z.optional(z.array(name)),
    arguments: z.optional(members),
    when: z.optional(z.unknown()),
  })
  .check(
    z.refine((step) => [step.tool, step.agent, step.workflow].filter((target) => target !== undefined).length === 1, {
      error: 'a step must name exactly one of tool, agent and workflow',
    }),
  )
  .register(names, { id: 'WorkflowStep' });

export const workflowStart = z.looseObject({
  workflow: name,
  inputs: z.optional(members),
  version: z.optional(z.string()),
  operation_key: z.optional(z.string().check(z.minLength(1), z.maxLength(1024))),
  timeout_ms: z.optional(milliseconds),
  retry: z.optional(retryPolicy),
  steps: z.optional(z.array(workflowStepSchema).check(z.minLength(1))),
});

export const workflowComplete = z.looseObject({
  /** @default failed if there is an error, else completed */
  status: z.optional(z.enum(['completed', 'failed', 'cancelled'])),
  outputs: z.optional(z.unknown()),
  error: z.optional(errorBodySchema),
  steps: z.optional(z.array(z.looseObject({ id: name, status: z.string() }))),
  duration_ms: z.optional(z.number().check(z.minimum(0))),
});

export const agentDelegate = z.looseObject({
  target: name,
  task: z.string(),
  context: z.optional(
    z.looseObject({
      trace_id: z.optional(z.string()),
      shared_context_id: z.optional(id),
      /** A subset of the permissions of the delegating job. */
      permissions_inherited: z.optional(z.array(name)),
      values: z.optional(members),
    }),
  ),
  arguments: z.optional(members),
  deadline: z.optional(timestamp),
  mode: z.optional(z.string()),
  operation_key: z.optional(z.string().check(z.minLength(1), z.maxLength(1024))),
});

export const agentHandoff = z
  .looseObject({
    target: z.optional(name),
    to_runtime: z.optional(
      z.looseObject({ kind: name, url: z.optional(z.string()), fingerprint: z.optional(z.string()) }),
    ),
    job_id: z.optional(id),
    session_id: z.optional(id),
    reason: z.optional(z.string()),
    checkpoint_id: z.optional(id),
    shared_context_id: z.optional(id),
    permissions: z.optional(z.array(name)),
  })
  .check(
    z.refine(({ target, to_runtime }) => target !== undefined || to_runtime !== undefined, {
      error: 'target or to_runtime is required',
    }),
  );
