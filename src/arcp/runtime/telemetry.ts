/** Export of spans and metrics through the OpenTelemetry API (spec 003, "Observability"). */
import { notifyListener } from '../../async/listeners.js';
import type { ObservedMetric, SpanKind, Telemetry, TelemetryMetric, TelemetrySpan } from './types.js';

/** The part of the module `@opentelemetry/api` that is used; pass the module itself. */
export interface OpenTelemetryApi {
  /** The context without a parent span. */
  readonly ROOT_CONTEXT: unknown;
  /** The numbers of span kinds. */
  readonly SpanKind: {
    readonly INTERNAL: number;
    readonly SERVER: number;
    readonly CLIENT: number;
    readonly PRODUCER: number;
    readonly CONSUMER: number;
  };
  /** The numbers of span statuses. */
  readonly SpanStatusCode: { readonly OK: number; readonly ERROR: number };
  /** The API of traces. */
  readonly trace: {
    getTracer(name: string, version?: string): { startSpan(name: string, options?: object, context?: never): OtelSpan };
    setSpanContext(context: never, spanContext: SpanContext): unknown;
  };
  /** The API of metrics. */
  readonly metrics: {
    getMeter(
      name: string,
      version?: string,
    ): {
      createCounter(name: string, options?: object): { add(value: number, attributes?: OtelAttributes): void };
      createGauge(name: string, options?: object): { record(value: number, attributes?: OtelAttributes): void };
      createHistogram(name: string, options?: object): { record(value: number, attributes?: OtelAttributes): void };
      createObservableGauge(name: string, options?: object): object;
      addBatchObservableCallback(observe: (result: OtelObservation) => Promise<void>, gauges: never[]): void;
      removeBatchObservableCallback(observe: (result: OtelObservation) => Promise<void>, gauges: never[]): void;
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

interface OtelObservation {
  observe(gauge: never, value: number, attributes?: OtelAttributes): void;
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
 * Creates a telemetry receiver that sends spans and metrics to OpenTelemetry. The span of a job is a child of the span of its command. The
 * metrics of runtimes and queues, `arcp.*`, are observable gauges.
 *
 * @param api the module `@opentelemetry/api`, with which your program has registered its providers
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
        event: (eventName, eventAttributes, at) => void span.addEvent(eventName, plain(eventAttributes), at),
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
    observe: (metrics, measure) => observe(api, metrics, measure),
  };
}

function observe(
  api: OpenTelemetryApi,
  metrics: readonly ObservedMetric[],
  measure: () => Promise<readonly TelemetryMetric[]>,
): () => void {
  const meter = api.metrics.getMeter(NAME);
  const gauges = new Map(
    metrics.map(({ name, ...options }) => [name, meter.createObservableGauge(name, options) as never]),
  );
  const report = async (result: OtelObservation): Promise<void> => {
    for (const { name, value, dims } of await measure()) result.observe(gauges.get(name)!, value, { ...dims });
  };
  const all = [...gauges.values()];
  meter.addBatchObservableCallback(report, all);
  return () => meter.removeBatchObservableCallback(report, all);
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

/** Converts attributes: OpenTelemetry accepts strings, numbers and booleans; other values become JSON. */
function plain(attributes: Readonly<Record<string, unknown>>): OtelAttributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]): [string, string | number | boolean][] => {
      if (value === undefined || value === null) return [];
      const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      return [[name, isPlain ? value : JSON.stringify(value)]];
    }),
  );
}

const NO_SPAN: TelemetrySpan = { spanId: '', event: () => {}, end: () => {} };

export function safeTelemetry(telemetry: Telemetry): Telemetry {
  return {
    startSpan: (name, start) => {
      let span = NO_SPAN;
      notifyListener(() => {
        span = telemetry.startSpan(name, start);
      });
      return {
        spanId: span.spanId,
        event: (...event) => notifyListener(() => span.event(...event)),
        end: (ended) => notifyListener(() => span.end(ended)),
      };
    },
    metric: (metric) => notifyListener(() => telemetry.metric(metric)),
    observe: (metrics, measure) => {
      let stop: (() => void) | undefined;
      notifyListener(() => {
        stop = telemetry.observe?.(metrics, measure);
      });
      return () => notifyListener(() => stop?.());
    },
  };
}
