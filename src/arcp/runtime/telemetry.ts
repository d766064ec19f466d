/** Spans and metrics for OpenTelemetry (spec 003, "Observability"), through its API as it was given. */
import { notifyListener } from '../../async/listeners.js';
import type { SpanKind, Telemetry, TelemetryMetric, TelemetrySpan } from './types.js';

/** As much of `@opentelemetry/api` as is used; the module itself is one. */
export interface OpenTelemetryApi {
  readonly ROOT_CONTEXT: unknown;
  readonly SpanKind: {
    readonly INTERNAL: number;
    readonly SERVER: number;
    readonly CLIENT: number;
    readonly PRODUCER: number;
    readonly CONSUMER: number;
  };
  readonly SpanStatusCode: { readonly OK: number; readonly ERROR: number };
  readonly trace: {
    getTracer(name: string, version?: string): { startSpan(name: string, options?: object, context?: never): OtelSpan };
    setSpanContext(context: never, spanContext: SpanContext): unknown;
  };
  readonly metrics: {
    getMeter(
      name: string,
      version?: string,
    ): {
      createCounter(name: string, options?: object): { add(value: number, attributes?: OtelAttributes): void };
      createGauge(name: string, options?: object): { record(value: number, attributes?: OtelAttributes): void };
      createHistogram(name: string, options?: object): { record(value: number, attributes?: OtelAttributes): void };
    };
  };
}

interface SpanContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
  isRemote?: boolean;
}

interface OtelAttributes {
  [name: string]: string | number | boolean | undefined;
}

interface OtelSpan {
  spanContext(): SpanContext;
  addEvent(name: string, attributes?: OtelAttributes, time?: number): unknown;
  setAttributes(attributes: OtelAttributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(time?: number): void;
}

const NAME = 'pegwire';
/** W3C Trace Context, section 3.2.2.5. */
const SAMPLED = 1;

/**
 * Sends spans and metrics to OpenTelemetry. Spans stand below that of the command, where it has one.
 *
 * @param api the module `@opentelemetry/api`, with the providers that the host has registered
 * @example
 * import * as api from '@opentelemetry/api';
 * const runtime = createRuntime({ telemetry: openTelemetry(api) });
 */
export function openTelemetry(api: OpenTelemetryApi): Telemetry {
  const instruments = new Map<string, (value: number, dims: OtelAttributes) => void>();
  return {
    startSpan: (name, { traceId, parentSpanId, kind, startedAt, attributes }): TelemetrySpan => {
      const parent = { traceId, spanId: parentSpanId ?? '', traceFlags: SAMPLED, isRemote: true };
      const context =
        parentSpanId === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT as never, parent);
      const otelKind = api.SpanKind[kind.toUpperCase() as Uppercase<SpanKind>];
      const options = { kind: otelKind, startTime: startedAt, attributes: plain(attributes) };
      const span = api.trace.getTracer(NAME).startSpan(name, options, context as never);
      return {
        spanId: span.spanContext().spanId,
        event: (what, about, at) => void span.addEvent(what, plain(about), at),
        end: ({ endedAt, attributes: last, error }) => {
          span.setAttributes(plain(last));
          span.setStatus(
            error === undefined
              ? { code: api.SpanStatusCode.OK }
              : { code: api.SpanStatusCode.ERROR, message: `${error.code}: ${error.message}` },
          );
          span.end(endedAt);
        },
      };
    },
    metric: (metric) => {
      const key = `${metric.kind ?? 'gauge'} ${metric.name}`;
      const record = instruments.get(key) ?? instrument(api, metric);
      instruments.set(key, record);
      record(metric.value, { ...metric.dims });
    },
  };
}

function instrument(
  api: OpenTelemetryApi,
  { name, kind, unit }: TelemetryMetric,
): (value: number, dims: OtelAttributes) => void {
  const meter = api.metrics.getMeter(NAME);
  const options = unit === undefined || unit === '' ? {} : { unit };
  if (kind === 'counter') {
    const counter = meter.createCounter(name, options);
    return (value, dims) => counter.add(value, dims);
  }
  const other = kind === 'histogram' ? meter.createHistogram(name, options) : meter.createGauge(name, options);
  return (value, dims) => other.record(value, dims);
}

/** OpenTelemetry takes strings, numbers and booleans; everything else becomes JSON. */
function plain(attributes: Readonly<Record<string, unknown>>): OtelAttributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]): [string, string | number | boolean][] => {
      if (value === undefined || value === null) return [];
      const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      return [[name, isPlain ? value : JSON.stringify(value)]];
    }),
  );
}

const NOBODYS: TelemetrySpan = { spanId: '', event: () => {}, end: () => {} };

export function safeTelemetry(telemetry: Telemetry): Telemetry {
  return {
    startSpan: (name, begun) => {
      let span = NOBODYS;
      notifyListener(() => {
        span = telemetry.startSpan(name, begun);
      });
      return {
        spanId: span.spanId,
        event: (...event) => notifyListener(() => span.event(...event)),
        end: (ended) => notifyListener(() => span.end(ended)),
      };
    },
    metric: (metric) => notifyListener(() => telemetry.metric(metric)),
  };
}
