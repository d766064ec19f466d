/** Payloads that open, keep and close sessions (spec 003, "Capability Negotiation", "Sessions"). */
import * as z from 'zod/mini';
import { names } from '../names.js';
import { id, members, name, seconds, sessionMode, timestamp, trustLevel } from './parts.js';

/** What one side can do: `true`, a list, a number, or whatever a capability of somebody's own is. */
export const capabilitiesSchema = members.register(names, {
  id: 'Capabilities',
  description:
    'Capabilities by name. Both sides can do what both have named: of booleans both, of lists what is in both, of numbers the smaller.',
});

/** Limits of the messages that one side reads. */
const messageLimits = {
  max_message_bytes: z.optional(z.int().check(z.minimum(1))),
  /** Levels of arrays and objects, the envelope included. */
  max_depth: z.optional(z.int().check(z.minimum(1))),
};

const party = z.looseObject({ kind: name, version: z.string(), fingerprint: z.optional(z.string()) });

/** A tool as a runtime tells of it. Its schemas are JSON Schemas, which are not looked into. */
export const toolInfoSchema = z
  .looseObject({
    name,
    description: z.optional(z.string()),
    input_schema: z.optional(members),
    output_schema: z.optional(members),
    permissions: z.optional(z.array(name)),
    durable: z.optional(z.boolean()),
  })
  .register(names, { id: 'ToolInfo' });

export const agentInfoSchema = z
  .looseObject({ name, description: z.optional(z.string()), skills: z.optional(z.array(z.string())) })
  .register(names, { id: 'AgentInfo' });

export const workflowInfoSchema = z
  .looseObject({
    name,
    description: z.optional(z.string()),
    version: z.optional(z.string()),
    input_schema: z.optional(members),
    durable: z.optional(z.boolean()),
  })
  .register(names, { id: 'WorkflowInfo' });

export const sessionOpen = z.looseObject({
  capabilities: capabilitiesSchema,
  auth: z.optional(z.looseObject({ scheme: name, token: z.optional(z.string()) })),
  client: z.optional(z.extend(party, { principal: z.optional(z.string()) })),
  mode: z.optional(sessionMode),
  versions: z.optional(z.array(z.string())),
  /** What is asked for; the runtime may give less. */
  trust_level: z.optional(trustLevel),
  resume_token: z.optional(z.string()),
  metadata: z.optional(members),
  /** Limits of the client's reader. The runtime sends nothing beyond them: work whose result exceeds them fails with `PAYLOAD_TOO_LARGE`. */
  limits: z.optional(z.looseObject(messageLimits)),
});

export const sessionAccepted = z.looseObject({
  session_id: id,
  capabilities: capabilitiesSchema,
  runtime: z.optional(party),
  /** A session of a runtime that does not name its mode may be resumed as far as it gives a `resume_token`. */
  mode: z.optional(sessionMode),
  trust_level: z.optional(trustLevel),
  resume_token: z.optional(z.string()),
  resume_window_seconds: z.optional(seconds),
  expires_at: z.optional(timestamp),
  tools: z.optional(z.array(toolInfoSchema)),
  agents: z.optional(z.array(agentInfoSchema)),
  workflows: z.optional(z.array(workflowInfoSchema)),
  heartbeat_interval_seconds: z.optional(seconds),
  limits: z.optional(
    z.looseObject({
      ...messageLimits,
      max_jobs: z.optional(z.int().check(z.minimum(1))),
    }),
  ),
});

/** What becomes of the jobs of a session that is closed: they go on, are cancelled, or are waited for. */
export const JOB_DISPOSALS = ['detach', 'cancel', 'drain'] as const;
export type JobDisposal = (typeof JOB_DISPOSALS)[number];

export const sessionClose = z.looseObject({
  reason: z.optional(z.string()),
  jobs: z.optional(z.enum(JOB_DISPOSALS)),
  /** Another name of `jobs`, which is read, too. */
  dispose_jobs: z.optional(z.enum(JOB_DISPOSALS)),
});

export const ping = z.looseObject({ nonce: z.optional(z.string()), sent_at: z.optional(timestamp) });
export const pong = z.looseObject({
  ack_for: z.optional(id),
  received_at: z.optional(timestamp),
  nonce: z.optional(z.string()),
});
