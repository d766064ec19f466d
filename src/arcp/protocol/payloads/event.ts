/** Payloads that only tell (spec 003, "Event Messages", "Observability"). */
import * as z from 'zod';
import { id, members, name, timestamp } from './parts.js';

export const eventEmit = z.looseObject({
  name,
  attributes: members.optional(),
  /** Another name of `attributes`, which is read, too. */
  attrs: members.optional(),
});

/** From least to most. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'critical'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The level that a name stands for; what nobody here knows is information. */
export function logLevelOf(level: string): LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(level) ? (level as LogLevel) : 'info';
}

export const log = z.looseObject({ level: name, message: z.string(), attributes: members.optional() });

export const metric = z.looseObject({
  name,
  value: z.number(),
  unit: z.string().optional(),
  kind: z.enum(['counter', 'gauge', 'histogram']).optional(),
  dims: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});

export const traceSpan = z.looseObject({
  name,
  trace_id: id.optional(),
  span_id: id.optional(),
  parent_span_id: id.optional(),
  start_time: timestamp.optional(),
  end_time: timestamp.optional(),
  duration_ms: z.number().min(0).optional(),
  kind: z.string().optional(),
  status: z.enum(['unset', 'ok', 'error']).optional(),
  attributes: members.optional(),
  events: z.array(members).optional(),
  links: z.array(members).optional(),
});
