/** Payloads of events, logs, metrics and spans (spec 003, "Event Messages", "Observability"). */
import * as z from 'zod/mini';
import { id, members, name, timestamp } from './parts.js';

export const eventEmit = z.looseObject({
  name,
  attributes: z.optional(members),
  /** An alias of `attributes`. */
  attrs: z.optional(members),
});

/** The log levels, from least to most severe. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'critical'] as const;
/** The severity of a log entry, from `trace` to `critical`. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Returns the log level of a name; `info` if the name is unknown. */
export function logLevelOf(level: string): LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(level) ? (level as LogLevel) : 'info';
}

export const log = z.looseObject({ level: name, message: z.string(), attributes: z.optional(members) });

export const metric = z.looseObject({
  name,
  value: z.number(),
  unit: z.optional(z.string()),
  kind: z.optional(z.enum(['counter', 'gauge', 'histogram'])),
  dims: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
});

export const traceSpan = z.looseObject({
  name,
  trace_id: z.optional(id),
  span_id: z.optional(id),
  parent_span_id: z.optional(id),
  start_time: z.optional(timestamp),
  end_time: z.optional(timestamp),
  duration_ms: z.optional(z.number().check(z.minimum(0))),
  kind: z.optional(z.string()),
  status: z.optional(z.enum(['unset', 'ok', 'error'])),
  attributes: z.optional(members),
  events: z.optional(z.array(members)),
  links: z.optional(z.array(members)),
});
