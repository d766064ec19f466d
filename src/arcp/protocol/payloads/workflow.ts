/** Payloads of workflows and of agents that work for each other (spec 003, "Multi-Agent Coordination"). */
import * as z from 'zod/mini';
import { errorBodySchema } from '../errors.js';
import { names } from '../names.js';
import { id, members, milliseconds, name, retryPolicy, timestamp } from './parts.js';

/** One step of a workflow that is given with the command: a tool, an agent or another workflow. */
export const workflowStepSchema = z
  .looseObject({
    id: name,
    tool: z.optional(name),
    agent: z.optional(name),
    workflow: z.optional(name),
    /** Steps that have to be done before. */
    needs: z.optional(z.array(name)),
    arguments: z.optional(members),
    when: z.optional(z.unknown()),
  })
  .check(
    z.refine((step) => [step.tool, step.agent, step.workflow].filter((target) => target !== undefined).length === 1, {
      error: 'a step has a tool, an agent or a workflow',
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
      /** Of those that the delegating job has; never more. */
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
      error: 'a handoff goes to a target or to a runtime',
    }),
  );
