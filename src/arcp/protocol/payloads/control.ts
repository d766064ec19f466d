/** Payloads of sessions, answers and permissions (spec 003, "Control Messages", "Sessions", "Permissions"). */
import * as z from 'zod';
import { errorFields, names } from '../errors.js';
import { count, id, members, milliseconds, name, seconds, sessionMode, timestamp, trustLevel } from './parts.js';

/** What one side can do: `true`, a list, a number, or whatever a capability of somebody's own is. */
const capabilitiesSchema = members.register(names, {
  id: 'Capabilities',
  description:
    'Capabilities by name. Both sides can do what both have named: of booleans both, of lists what is in both, of numbers the smaller.',
});

/** Limits of the messages that one side reads. */
const messageLimits = {
  max_message_bytes: z.number().int().min(1).optional(),
  /** Levels of arrays and objects, the envelope included. */
  max_depth: z.number().int().min(1).optional(),
};

const party = z.looseObject({ kind: name, version: z.string(), fingerprint: z.string().optional() });

/** A tool as a runtime tells of it. Its schemas are JSON Schemas, which are not looked into. */
const toolInfoSchema = z
  .looseObject({
    name,
    description: z.string().optional(),
    input_schema: members.optional(),
    output_schema: members.optional(),
    permissions: z.array(name).optional(),
    durable: z.boolean().optional(),
  })
  .register(names, { id: 'ToolInfo' });

const agentInfoSchema = z
  .looseObject({ name, description: z.string().optional(), skills: z.array(z.string()).optional() })
  .register(names, { id: 'AgentInfo' });

const workflowInfoSchema = z
  .looseObject({
    name,
    description: z.string().optional(),
    version: z.string().optional(),
    input_schema: members.optional(),
    durable: z.boolean().optional(),
  })
  .register(names, { id: 'WorkflowInfo' });

export const sessionOpen = z.looseObject({
  capabilities: capabilitiesSchema,
  auth: z.looseObject({ scheme: name, token: z.string().optional() }).optional(),
  client: party.extend({ principal: z.string().optional() }).optional(),
  mode: sessionMode.optional(),
  versions: z.array(z.string()).optional(),
  /** What is asked for; the runtime may give less. */
  trust_level: trustLevel.optional(),
  resume_token: z.string().optional(),
  metadata: members.optional(),
  /** Limits of the client's reader. The runtime sends nothing beyond them: work whose result exceeds them fails with `PAYLOAD_TOO_LARGE`. */
  limits: z.looseObject(messageLimits).optional(),
});

export const sessionAccepted = z.looseObject({
  session_id: id,
  capabilities: capabilitiesSchema,
  runtime: party.optional(),
  /** A session of a runtime that does not name its mode may be resumed as far as it gives a `resume_token`. */
  mode: sessionMode.optional(),
  trust_level: trustLevel.optional(),
  resume_token: z.string().optional(),
  resume_window_seconds: seconds.optional(),
  expires_at: timestamp.optional(),
  tools: z.array(toolInfoSchema).optional(),
  agents: z.array(agentInfoSchema).optional(),
  workflows: z.array(workflowInfoSchema).optional(),
  heartbeat_interval_seconds: seconds.optional(),
  limits: z
    .looseObject({
      ...messageLimits,
      max_jobs: z.number().int().min(1).optional(),
    })
    .optional(),
});

/** What becomes of the jobs of a session that is closed: they go on, are cancelled, or are waited for. */
export const JOB_DISPOSALS = ['detach', 'cancel', 'drain'] as const;
export type JobDisposal = (typeof JOB_DISPOSALS)[number];

export const sessionClose = z.looseObject({
  reason: z.string().optional(),
  jobs: z.enum(JOB_DISPOSALS).optional(),
  /** Another name of `jobs`, which is read, too. */
  dispose_jobs: z.enum(JOB_DISPOSALS).optional(),
});

export const ping = z.looseObject({ nonce: z.string().optional(), sent_at: timestamp.optional() });
export const pong = z.looseObject({
  ack_for: id.optional(),
  received_at: timestamp.optional(),
  nonce: z.string().optional(),
});

export const ack = z.looseObject({
  /** Absent where `correlation_id` alone names the message. */
  ack_for: id.optional(),
  received_at: timestamp.optional(),
  status: z.enum(['accepted', 'duplicate', 'done']).optional(),
  /** All that was sent to this session up to this message has arrived. */
  up_to: id.optional(),
  details: members.optional(),
});

export const nack = z.looseObject({ ...errorFields, nack_for: id.optional() });

export const cancel = z.looseObject({
  reason: z.string().optional(),
  /** How long the work may go on before it is ended by force. */
  deadline_ms: milliseconds.optional(),
  target: z.enum(['job', 'stream', 'session']).optional(),
  target_id: id.optional(),
});

export const resume = z.looseObject({
  after_message_id: id.optional(),
  checkpoint_id: id.optional(),
  include_open_streams: z.boolean().optional(),
  /** `continue` also sets a paused job going again. */
  mode: z.enum(['replay', 'continue']).optional(),
  limit: count.optional(),
});

export const backpressure = z.looseObject({
  /** Chunks; 0 is a pause, and none given is no bound. */
  desired_rate_per_second: z.number().min(0).optional(),
  buffer_remaining_bytes: count.optional(),
  reason: z.string().optional(),
});

export const checkpointCreate = z.looseObject({
  label: z.string().optional(),
  // biome-ignore lint/suspicious/noThenProperty: it is called so on the wire, and nothing awaits a table of schemas.
  then: z.enum(['continue', 'pause']).optional(),
});

export const checkpointRestore = z.looseObject({ checkpoint_id: id, new_job: z.boolean().optional() });

/** What is asked for, granted or denied: a permission, on a resource, for an operation. */
const scope = { resource: z.string().optional(), operation: z.string().optional() };

export const permissionRequest = z.looseObject({
  permission: name,
  ...scope,
  reason: z.string().optional(),
  requested_lease_seconds: seconds.optional(),
  /** Until when it can be answered. */
  expires_at: timestamp.optional(),
  risk: z.string().optional(),
  trust_level: trustLevel.optional(),
  arguments_preview: z.unknown().optional(),
  operation_key: z.string().optional(),
});

export const permissionGrant = z.looseObject({
  permission: name.optional(),
  ...scope,
  lease_id: id.optional(),
  lease_seconds: seconds.optional(),
  expires_at: timestamp.optional(),
  max_uses: count.optional(),
  granted_by: z.string().optional(),
  constraints: members.optional(),
});

export const permissionDeny = z.looseObject({
  permission: name.optional(),
  ...scope,
  reason: z.string().optional(),
  denied_by: z.string().optional(),
});
