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
