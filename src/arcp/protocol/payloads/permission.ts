/** Payloads of the challenge and its response (spec 003, "Permissions"). */
import * as z from 'zod';
import { count, id, members, name, seconds, timestamp, trustLevel } from './parts.js';

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
