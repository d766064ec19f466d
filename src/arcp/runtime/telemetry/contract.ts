/** Traces, as work tells of itself. */

export type SpanKind = 'internal' | 'client' | 'server' | 'producer' | 'consumer';

export interface SpanOptions {
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** @default 'internal' */
  readonly kind?: SpanKind | undefined;
}

/** A stretch of work that goes on. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** For a request to somebody else (W3C Trace Context, section 3.2); `undefined` where the trace has an id of another shape. */
  readonly traceparent: string | undefined;
  readonly set: (attributes: Readonly<Record<string, unknown>>) => void;
  /** Something that happens at a moment within it. */
  readonly event: (name: string, attributes?: Readonly<Record<string, unknown>>) => void;
  /** A stretch within it. */
  readonly span: <T>(name: string, work: (span: Span) => T | Promise<T>, options?: SpanOptions) => Promise<T>;
}

/** Where spans and metrics go besides to the client: `openTelemetry(api)`, or something of one's own. */
export interface Telemetry {
  /** A stretch of work begins. */
  readonly startSpan: (name: string, begun: BegunSpan) => TelemetrySpan;
  readonly metric: (metric: TelemetryMetric) => void;
}

export interface BegunSpan {
  readonly traceId: string;
  /** The span that it is within; `undefined` for the first of its trace. */
  readonly parentSpanId: string | undefined;
  readonly kind: SpanKind;
  /** Milliseconds since 1970. */
  readonly startTime: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface TelemetrySpan {
  /** What it is called by spans within it. */
  readonly spanId: string;
  readonly event: (name: string, attributes: Readonly<Record<string, unknown>>, time: number) => void;
  readonly end: (ended: {
    readonly time: number;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly error?: { readonly code: string; readonly message: string } | undefined;
  }) => void;
}

export interface TelemetryMetric {
  readonly name: string;
  readonly value: number;
  readonly unit?: string | undefined;
  readonly kind?: 'counter' | 'gauge' | 'histogram' | undefined;
  readonly dims?: Readonly<Record<string, string | number | boolean>> | undefined;
}
