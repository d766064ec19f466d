/** The types of a runtime: tools, what their handlers are given, and what those may ask for. */
import type * as z from 'zod';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { LogLevel } from '../protocol/payloads/event.js';
import type { TrustLevel } from '../protocol/payloads/parts.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { Content, StreamOptions, StreamWriter } from '../streams/content.js';

/** Options of tools, workflows and agents. */
export interface HandlerOptions<I extends z.ZodType = z.ZodType> {
  readonly description?: string | undefined;
  /** The schema of the arguments. @default any object */
  readonly input?: I | undefined;
  /** The schema of the result; another result is an `INTERNAL` error. @default anything */
  readonly output?: z.ZodType | undefined;
  /** Permissions that it may request. */
  readonly permissions?: readonly string[] | undefined;
  /** Allows untrusted sessions. @default false */
  readonly isPublic?: boolean | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** Milliseconds for all attempts together; the client may request less. @default Infinity */
  readonly timeoutMs?: number | undefined;
  /** @default 'default' */
  readonly queue?: string | undefined;
  /** Higher starts earlier. @default 0 */
  readonly priority?: number | undefined;
}

export interface ToolOptions<I extends z.ZodType = z.ZodType> extends HandlerOptions<I> {
  /** Runs as a durable job, which outlives connections and the process, unless client or session prevent it. @default false */
  readonly durable?: boolean | undefined;
}

/** The input of an agent. */
export interface AgentInput extends Readonly<Record<string, unknown>> {
  readonly task: string;
}

/** Does the work. A thrown `ArcpError` is sent as it is, other errors as `INTERNAL`. */
export type Handler<I extends z.ZodType = z.ZodType> = (
  input: z.output<I>,
  context: JobContext,
) => unknown | Promise<unknown>;

/** The context of a handler, which may run again from its top after a retryable error or a crash: use `step` for what must not be done twice. */
export interface JobContext {
  /** `undefined` in a direct call. */
  readonly jobId: string | undefined;
  readonly commandId: string;
  readonly sessionId: string;
  readonly principal: string;
  readonly trust: TrustLevel;
  /** From 1. */
  readonly attempt: number;
  /** Aborted when the work is cancelled, or continues elsewhere. */
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly spanId: string;
  /** The data of the latest checkpoint of an earlier attempt. */
  readonly restored: unknown;
  /** The client's key of the operation. */
  readonly operationKey: string | undefined;
  /** Reports progress. The promise, like those of all reports, resolves when it is stored. @throws ArcpError `INVALID_ARGUMENT` */
  readonly progress: (progress: PayloadOf<'job.progress'>) => Promise<void>;
  readonly log: (level: LogLevel, message: string, attributes?: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly metric: (metric: PayloadOf<'metric'>) => Promise<void>;
  readonly emit: (name: string, attributes?: Readonly<Record<string, unknown>>) => Promise<void>;
  /** For outgoing requests (W3C Trace Context); `undefined` if the trace id has another shape. */
  readonly traceparent: string | undefined;
  /** Runs work in a span, which is reported at its end. */
  readonly span: Span['span'];
  /**
   * Opens a stream to the client, which ends with the work. Writes are dropped if the client reads no streams.
   * @throws ArcpError `UNIMPLEMENTED` if it reads no binary streams
   */
  readonly stream: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
  /**
   * Reads a stream of the client by name or kind, whether it is open or will be. A slow reader slows the client down. Fails with `ABORTED`
   * if the client disconnects; nothing of it is stored.
   */
  readonly incoming: <K extends StreamKind = StreamKind>(which?: K | string) => AsyncIterableIterator<Content<K>>;
  /** Stores the position of the work for `restored` of the next attempt. @returns the id of the checkpoint */
  readonly checkpoint: (data: unknown, options?: CheckpointOptions) => Promise<string>;
  /** Provides the data when a client requests a checkpoint. @default the latest checkpoint */
  readonly onCheckpoint: (snapshot: () => unknown) => void;
  /**
   * Requests a permission. A valid grant of this job is reused over all attempts; else the policy decides, or the client, and the work
   * waits.
   * @throws ArcpError `PERMISSION_DENIED`; `DEADLINE_EXCEEDED` without an answer
   */
  readonly permission: (wish: PermissionRequest) => Promise<Lease>;
  /**
   * Runs work once over all attempts, and stores the result. After a crash in between it runs again: pass on the operation key.
   * @param key names it within the job
   */
  readonly step: <T>(key: string, work: (operationKey: string) => T | Promise<T>) => Promise<T>;
  /**
   * Calls a tool with the trust, grants and signal of this work; call and outcome are reported.
   * @throws ArcpError the tool's error; `NOT_FOUND`, `INVALID_ARGUMENT`
   */
  readonly call: <R = unknown>(
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ) => Promise<R>;
  /** Delegates a task to an agent as a child job; resolves when it was accepted. @throws ArcpError `NOT_FOUND`, `INVALID_ARGUMENT` */
  readonly delegate: <R = unknown>(agent: string, task: string, options?: DelegateOptions) => Promise<ChildJob<R>>;
  readonly startWorkflow: <R = unknown>(
    workflow: string,
    inputs?: Readonly<Record<string, unknown>>,
    options?: ChildOptions,
  ) => Promise<ChildJob<R>>;
  /**
   * Hands the job over to another agent, which continues from the latest checkpoint. Let the error that it throws through.
   * @throws ArcpError `NOT_FOUND`; `FAILED_PRECONDITION` unless this is an agent's job; `UNIMPLEMENTED` if it was not negotiated
   */
  readonly handOff: (agent: string, options?: HandoffOptions) => Promise<never>;
  /** The former owner of the job. */
  readonly handoff: Handoff | undefined;
  /** Values of the session. */
  readonly memory: KeyValueStore;
  /** Values shared with delegating and delegated jobs. */
  readonly shared: KeyValueStore;
  /** Another shared context of the same principal, by its id. */
  readonly sharedContext: (id: string) => KeyValueStore;
}

export interface CheckpointOptions {
  readonly label?: string | undefined;
  /** Shows the data to the client. @default false */
  readonly isVisible?: boolean | undefined;
}

/** A tool, a workflow or an agent. */
export interface Registration {
  readonly kind: 'tool' | 'workflow' | 'agent';
  readonly name: string;
  readonly options: ToolOptions;
  readonly handler: Handler;
}

/** JSON values by key. Promises resolve when a change is stored. */
export interface KeyValueStore {
  /** The id, for `sharedContext`. */
  readonly id: string;
  readonly get: <T = unknown>(key: string) => Promise<T | undefined>;
  readonly set: (key: string, value: unknown) => Promise<void>;
  /** Changes a value atomically. @param change may be called more than once */
  readonly update: <T = unknown>(key: string, change: (value: T | undefined) => T) => Promise<T>;
  readonly delete: (key: string) => Promise<void>;
  /** All entries, in the order of their keys. */
  readonly entries: () => Promise<readonly (readonly [key: string, value: unknown])[]>;
}

/** Retries of a job (spec 003, "Jobs": "Jobs MUST support retries"). */
export interface RetryPolicy {
  /** All attempts, the first included. @default 1 */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds before the second attempt. @default 1000 */
  readonly backoffMs?: number | undefined;
  /** The ratio of consecutive waits. @default 2 */
  readonly factor?: number | undefined;
  /** The longest wait, in milliseconds. @default 60000 */
  readonly maxBackoffMs?: number | undefined;
}

export interface CallOptions {
  /** Names the call within the job, so that its result is stored for later attempts. @default it is made again */
  readonly key?: string | undefined;
}

export interface ChildOptions {
  /** Names the child within the job, which is started once over all attempts. @default by its task */
  readonly key?: string | undefined;
  /** Permissions of the job that it inherits, without those for a number of uses. @default none */
  readonly permissions?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface DelegateOptions extends ChildOptions {
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Initial `shared` values for the agent, which only it sees until it sets them. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
  /** The context that it shares. @default that of the job */
  readonly contextId?: string | undefined;
}

/** A child job, which runs on without being awaited and is cancelled with its parent. */
export interface ChildJob<R = unknown> {
  /** `undefined` if the parent is a direct call. */
  readonly jobId: string | undefined;
  /** Waits for the end, while other jobs may run in this one's place. @throws ArcpError the error of the child */
  readonly result: () => Promise<R>;
}

export interface HandoffOptions {
  readonly reason?: string | undefined;
  /** Permissions that the job keeps. @default none */
  readonly permissions?: readonly string[] | undefined;
}

/** The former owner of the job. */
export interface Handoff {
  readonly from: string;
  readonly reason?: string | undefined;
}

/** The scope of a permission (spec 003, "Permissions": "scoped to a specific lease, resource, operation, and expiration time"). */
export interface Scope {
  /** Names joined by dots: `filesystem.write`. */
  readonly permission: string;
  /** Such as `order:ord_4812`; a final `*` matches any rest. */
  readonly resource?: string | undefined;
  readonly operation?: string | undefined;
}

export interface PermissionRequest extends Scope {
  /** The reason shown to the user. */
  readonly reason?: string | undefined;
  /** Milliseconds for which the grant is to be valid; `Infinity` for no end. The policy may shorten it. @default 300000 */
  readonly leaseMs?: number | undefined;
  /** The risk shown to the user: `low`, `high`, ... */
  readonly risk?: string | undefined;
  /** A preview shown to the user. */
  readonly preview?: unknown;
  /** Separates requests of the same scope in a job. */
  readonly key?: string | undefined;
}

/** A grant. */
export interface Lease extends Scope {
  readonly leaseId: string;
  /** Milliseconds since 1970; `Infinity` for never. */
  readonly expiresAt: number;
  readonly constraints: Readonly<Record<string, unknown>> | undefined;
  /**
   * Reports a use; call it right before each use.
   * @param wanted a part of the scope. @default all of it
   * @throws ArcpError `LEASE_EXPIRED`; `PERMISSION_DENIED` if it is not covered or was used up
   */
  readonly use: (wanted?: Partial<Omit<Scope, 'permission'>>) => Promise<void>;
}

export type SpanKind = 'internal' | 'client' | 'server' | 'producer' | 'consumer';

export interface SpanOptions {
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** @default 'internal' */
  readonly kind?: SpanKind | undefined;
}

/** An open span. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** For an outgoing request (W3C Trace Context, section 3.2); `undefined` if the trace id has another shape. */
  readonly traceparent: string | undefined;
  readonly set: (attributes: Readonly<Record<string, unknown>>) => void;
  /** Adds an event. */
  readonly event: (name: string, attributes?: Readonly<Record<string, unknown>>) => void;
  /** Runs work in a child span. */
  readonly span: <T>(name: string, work: (span: Span) => T | Promise<T>, options?: SpanOptions) => Promise<T>;
}

/** Receives spans and metrics besides the client: `openTelemetry(api)`, or another object. */
export interface Telemetry {
  readonly startSpan: (name: string, begun: SpanStart) => TelemetrySpan;
  readonly metric: (metric: TelemetryMetric) => void;
}

export interface SpanStart {
  readonly traceId: string;
  /** `undefined` for the first span of a trace. */
  readonly parentSpanId: string | undefined;
  readonly kind: SpanKind;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface TelemetrySpan {
  /** The id for child spans. */
  readonly spanId: string;
  readonly event: (name: string, attributes: Readonly<Record<string, unknown>>, at: number) => void;
  readonly end: (ended: {
    readonly endedAt: number;
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
