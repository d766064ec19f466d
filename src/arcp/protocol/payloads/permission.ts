/** Payloads of the challenge and its response (spec 003, "Permissions"). */
import * as z from 'zod/mini';
import { count, id, members, name, seconds, timestamp, trustLevel } from './parts.js';

/** What is asked for, granted or denied: a permission, on a resource, for an operation. */
const scope = { resource: z.optional(z.string()), operation: z.optional(z.string()) };

export const permissionRequest = z.looseObject({
  permission: name,
  ...scope,
  reason: z.optional(z.string()),
  requested_lease_seconds: z.optional(seconds),
  /** Until when it can be answered. */
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
