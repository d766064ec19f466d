/** Payloads of workflows and of agents that work for each other (spec 003, "Multi-Agent Coordination"). */
import * as z from 'zod';
import { errorBodySchema } from '../errors.js';
import { names } from '../names.js';
import { id, members, milliseconds, name, retryPolicy, timestamp } from './parts.js';

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
