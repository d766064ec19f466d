/** Stretches of work that are told of when they are over (spec 003, "Observability"; compatible with OpenTelemetry). */
import type { PayloadOf } from '../../protocol/catalogue.js';
import { type ArcpError, asArcpError } from '../../protocol/errors.js';
import { newSpanId, timestampOf } from '../../protocol/ids.js';
import type { Attempt } from '../job/attempt.js';
import type { Span, SpanOptions } from '../types.js';

export interface Within {
  readonly spanId: string;
  readonly toldAs: string | undefined;
}

/** Reports the work as a span when it has ended, even if it failed. */
export async function withSpan<T>(
  attempt: Attempt,
  within: Within,
  name: string,
  work: (span: Span) => T | Promise<T>,
  { attributes = {}, kind = 'internal' }: SpanOptions = {},
): Promise<T> {
  const { now } = attempt.host;
  const { traceId } = attempt.spec.trace;
  const start = now();
  const told = attempt.host.telemetry?.startSpan(name, {
    traceId,
    parentSpanId: within.toldAs,
    kind,
    startTime: start,
    attributes,
  });
  const parentSpanId = within.spanId;
  // A span known to telemetry keeps its id there.
  const spanId = told === undefined || /^0*$/.test(told.spanId) ? newSpanId() : told.spanId;
  const all: Record<string, unknown> = { ...attributes };
  const events: Record<string, unknown>[] = [];
  const span: Span = {
    traceId,
    spanId,
    traceparent: traceparentOf(traceId, spanId),
    set: (more) => void Object.assign(all, more),
    event: (what, about) => {
      events.push({ name: what, time: timestampOf(now()), attributes: about });
      told?.event(what, about ?? {}, now());
    },
    span: (inner, innerWork, options) => withSpan(attempt, { spanId, toldAs: told?.spanId }, inner, innerWork, options),
  };
  let error: ArcpError | undefined;
  try {
    return await work(span);
  } catch (thrown) {
    error = asArcpError(thrown);
    all['error.type'] = error.code;
    throw thrown;
  } finally {
    const end = now();
    told?.end({ time: end, attributes: all, error });
    const payload: PayloadOf<'trace.span'> = {
      name,
      trace_id: traceId,
      span_id: spanId,
      parent_span_id: parentSpanId,
      kind,
      status: error === undefined ? 'ok' : 'error',
      start_time: timestampOf(start),
      end_time: timestampOf(end),
      ...(Object.keys(all).length === 0 ? {} : { attributes: all }),
      ...(events.length === 0 ? {} : { events }),
    };
    const trace = { traceId, spanId, parentSpanId };
    await attempt.outbox.add({ events: [attempt.messages.event('trace.span', payload, { trace })] });
  }
}

/** @returns `undefined` unless the ids are those of W3C Trace Context */
export function traceparentOf(traceId: string, spanId: string): string | undefined {
  const isOne = /^(?!0{32})[0-9a-f]{32}$/.test(traceId) && /^(?!0{16})[0-9a-f]{16}$/.test(spanId);
  return isOne ? `00-${traceId}-${spanId}-01` : undefined;
}
