/** Payloads of sessions, answers and permissions (spec 003, "Control Messages", "Sessions", "Permissions"). */
import * as z from 'zod/mini';
import { errorFields, names } from '../errors.js';
import { count, id, members, milliseconds, name, seconds, sessionMode, timestamp, trustLevel } from './parts.js';

const capabilitiesSchema = members.register(names, {
  id: 'Capabilities',
  description:
    'Capabilities by name. The negotiated value is the conjunction of booleans, the intersection of lists, and the minimum of numbers.',
});

const messageLimits = {
  max_message_bytes: z.optional(z.int().check(z.minimum(1))),
  max_depth: z.optional(z.int().check(z.minimum(1))),
};

const party = z.looseObject({ kind: name, version: z.string(), fingerprint: z.optional(z.string()) });

const toolInfoSchema = z
  .looseObject({
    name,
    description: z.optional(z.string()),
    input_schema: z.optional(members),
    output_schema: z.optional(members),
    permissions: z.optional(z.array(name)),
    durable: z.optional(z.boolean()),
  })
  .register(names, { id: 'ToolInfo' });

const agentInfoSchema = z
  .looseObject({ name, description: z.optional(z.string()), skills: z.optional(z.array(z.string())) })
  .register(names, { id: 'AgentInfo' });

const workflowInfoSchema = z
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
  trust_level: z.optional(trustLevel),
  resume_token: z.optional(z.string()),
  metadata: z.optional(members),
  /** The limits of the client. A job whose result exceeds them fails with `PAYLOAD_TOO_LARGE`. */
  limits: z.optional(z.looseObject(messageLimits)),
});

export const sessionAccepted = z.looseObject({
  session_id: id,
  capabilities: capabilitiesSchema,
  runtime: z.optional(party),
  /** Without a mode, the session can be resumed if it has a `resume_token`. */
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

/** The treatment of running jobs when their session closes: they continue, are cancelled, or are awaited. */
export const JOB_DISPOSALS = ['detach', 'cancel', 'drain'] as const;
/** The treatment of running jobs when their session closes. */
export type JobDisposal = (typeof JOB_DISPOSALS)[number];

export const sessionClose = z.looseObject({
  reason: z.optional(z.string()),
  jobs: z.optional(z.enum(JOB_DISPOSALS)),
  /** An alias of `jobs`. */
  dispose_jobs: z.optional(z.enum(JOB_DISPOSALS)),
});

export const ping = z.looseObject({ nonce: z.optional(z.string()), sent_at: z.optional(timestamp) });
export const pong = z.looseObject({
  ack_for: z.optional(id),
  received_at: z.optional(timestamp),
  nonce: z.optional(z.string()),
});

export const ack = z.looseObject({
  ack_for: z.optional(id),
  received_at: z.optional(timestamp),
  status: z.optional(z.enum(['accepted', 'duplicate', 'done'])),
  /** Confirms all messages of the session up to this one. */
  up_to: z.optional(id),
  details: z.optional(members),
});

export const nack = z.looseObject({ ...errorFields, nack_for: z.optional(id) });

export const cancel = z.looseObject({
  reason: z.optional(z.string()),
  deadline_ms: z.optional(milliseconds),
  target: z.optional(z.enum(['job', 'stream', 'session'])),
  target_id: z.optional(id),
});

export const resume = z.looseObject({
  after_message_id: z.optional(id),
  checkpoint_id: z.optional(id),
  include_open_streams: z.optional(z.boolean()),
  /** `continue` also resumes a paused job. */
  mode: z.optional(z.enum(['replay', 'continue'])),
  limit: z.optional(count),
});

export const backpressure = z.looseObject({
  /** Chunks per second; 0 pauses the sender, and absent means unlimited. */
  desired_rate_per_second: z.optional(z.number().check(z.minimum(0))),
  buffer_remaining_bytes: z.optional(count),
  reason: z.optional(z.string()),
});

export const checkpointCreate = z.looseObject({
  label: z.optional(z.string()),
  // biome-ignore lint/suspicious/noThenProperty: the member has this name on the wire, and the schemas are never awaited.
  then: z.optional(z.enum(['continue', 'pause'])),
});

export const checkpointRestore = z.looseObject({ checkpoint_id: id, new_job: z.optional(z.boolean()) });

const scope = { resource: z.optional(z.string()), operation: z.optional(z.string()) };

export const permissionRequest = z.looseObject({
  permission: name,
  ...scope,
  reason: z.optional(z.string()),
  requested_lease_seconds: z.optional(seconds),
  expires_at: z.optional(timestamp),
  risk: z.optional(z.string()),
  trust_level: z.optional(trustLevel),
  arguments_preview: z.optional(z.unknown()),
  operation_key: z.optional(z.string()),
});

export const permissionGrant = z.looseObject({
  permission: z.optional(name),
  ...scope,
  lease_id: z.optional(id),
  lease_seconds: z.optional(seconds),
  expires_at: z.optional(timestamp),
  max_uses: z.optional(count),
  granted_by: z.optional(z.string()),
  constraints: z.optional(members),
});

export const permissionDeny = z.looseObject({
  permission: z.optional(name),
  ...scope,
  reason: z.optional(z.string()),
  denied_by: z.optional(z.string()),
});
