/** Stretches of work that are told of when they are over (spec 003, "Observability"; compatible with OpenTelemetry). */

import type { PayloadOf } from '../../protocol/catalogue.js';
import { asArcpError } from '../../protocol/errors.js';
import { newSpanId } from '../../protocol/ids.js';
import { timestampOf } from '../../protocol/timestamp.js';
import type { Attempt } from '../jobs/attempt.js';
import type { Span, SpanOptions } from './contract.js';

/** Does the work, and tells of it when it is over: also when it has failed. What it throws is thrown. */
export async function withSpan<T>(
  attempt: Attempt,
  parentSpanId: string,
  name: string,
  work: (span: Span) => T | Promise<T>,
  { attributes = {}, kind = 'internal' }: SpanOptions = {},
): Promise<T> {
  const { now } = attempt.permissions;
  const { traceId } = attempt.spec.trace;
  const spanId = newSpanId();
  const start = now();
  const all: Record<string, unknown> = { ...attributes };
  const events: Record<string, unknown>[] = [];
  const span: Span = {
    ...{ traceId, spanId, traceparent: traceparentOf(traceId, spanId) },
    set: (more) => void Object.assign(all, more),
    event: (what, about) =>
      void events.push({ name: what, time: timestampOf(now()), ...(about === undefined ? {} : { attributes: about }) }),
    span: (inner, innerWork, options) => withSpan(attempt, spanId, inner, innerWork, options),
  };
  let status: 'ok' | 'error' = 'ok';
  try {
    return await work(span);
  } catch (thrown) {
    status = 'error';
    all['error.type'] = asArcpError(thrown).code;
    throw thrown;
  } finally {
    const payload: PayloadOf<'trace.span'> = {
      ...{ name, trace_id: traceId, span_id: spanId, parent_span_id: parentSpanId, kind, status },
      ...{ start_time: timestampOf(start), end_time: timestampOf(now()) },
      ...(Object.keys(all).length === 0 ? {} : { attributes: all }),
      ...(events.length === 0 ? {} : { events }),
    };
    const trace = { traceId, spanId, parentSpanId };
    await attempt.outbox.add({ events: [attempt.voice.event('trace.span', payload, { trace })] });
  }
}

/** @returns `undefined` where the ids are not of the shape that W3C Trace Context has */
export function traceparentOf(traceId: string, spanId: string): string | undefined {
  const isOne = /^(?!0{32})[0-9a-f]{32}$/.test(traceId) && /^(?!0{16})[0-9a-f]{16}$/.test(spanId);
  return isOne ? `00-${traceId}-${spanId}-01` : undefined;
}
