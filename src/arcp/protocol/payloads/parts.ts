/** Schemas that several payloads share. */
import * as z from 'zod/mini';
import { names } from '../errors.js';
import { ID, isTimestamp } from '../ids.js';

export const id = z
  .string()
  .check(z.regex(ID, { error: 'must be 1 to 256 characters without control characters' }))
  .register(names, { id: 'Id' });
export const name = id;
export const timestamp = z
  .string()
  .check(z.refine(isTimestamp, { error: 'must be a date and time with offset (RFC 3339)' }))
  .register(names, { id: 'Timestamp', format: 'date-time' });
export const milliseconds = z.int().check(z.minimum(0));
export const seconds = z.number().check(z.minimum(0));
export const count = z.int().check(z.minimum(0));
export const attempt = z.int().check(z.minimum(1));
export const members = z.looseObject({});

/** The session modes: a stateless session ends with its connection, a stateful one with the runtime, and a durable one survives both (spec 003, "Sessions"). */
export const SESSION_MODES = ['stateless', 'stateful', 'durable'] as const;
/** The mode of a session. */
export type SessionMode = (typeof SESSION_MODES)[number];

/** The trust levels, from lowest to highest (spec 003, "Permissions"). */
export const TRUST_LEVELS = ['untrusted', 'constrained', 'trusted', 'privileged'] as const;
/** The trust of a session. */
export type TrustLevel = (typeof TRUST_LEVELS)[number];

/** The states of a job (spec 003, "Jobs"). */
export const JOB_STATES = [
  'accepted',
  'queued',
  'running',
  'blocked',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const;
/** The state of a job. */
export type JobState = (typeof JOB_STATES)[number];

export const sessionMode = z.enum(SESSION_MODES);
export const trustLevel = z.enum(TRUST_LEVELS);
export const jobState = z.enum(JOB_STATES);

export const retryPolicy = z.looseObject({
  max_attempts: z.optional(attempt),
  backoff_ms: z.optional(milliseconds),
  /** The ratio of consecutive delays. */
  factor: z.optional(z.number().check(z.minimum(1))),
  max_backoff_ms: z.optional(milliseconds),
});
