/** What the payloads of several messages have in common. */
import * as z from 'zod/mini';
import { names } from '../errors.js';
import { ID, isTimestamp } from '../ids.js';

export const id = z
  .string()
  .check(z.regex(ID, { error: 'an identifier has 1 to 256 characters, of which none controls anything' }))
  .register(names, { id: 'Id' });
export const name = id;
export const timestamp = z
  .string()
  .check(z.refine(isTimestamp, { error: 'a timestamp is a date and a time with its offset, as RFC 3339 has them' }))
  .register(names, { id: 'Timestamp', format: 'date-time' });
export const milliseconds = z.int().check(z.minimum(0));
export const seconds = z.number().check(z.minimum(0));
export const count = z.int().check(z.minimum(0));
export const attempt = z.int().check(z.minimum(1));
export const members = z.looseObject({});

/** The lifetime of a session compared to its connection (spec 003, "Sessions"). */
export const SESSION_MODES = ['stateless', 'stateful', 'durable'] as const;
export type SessionMode = (typeof SESSION_MODES)[number];

/** From least to most (spec 003, "Permissions"). */
export const TRUST_LEVELS = ['untrusted', 'constrained', 'trusted', 'privileged'] as const;
export type TrustLevel = (typeof TRUST_LEVELS)[number];

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
export type JobState = (typeof JOB_STATES)[number];

export const sessionMode = z.enum(SESSION_MODES);
export const trustLevel = z.enum(TRUST_LEVELS);
export const jobState = z.enum(JOB_STATES);

export const retryPolicy = z.looseObject({
  max_attempts: z.optional(attempt),
  backoff_ms: z.optional(milliseconds),
  /** The ratio of consecutive waits. */
  factor: z.optional(z.number().check(z.minimum(1))),
  max_backoff_ms: z.optional(milliseconds),
});
