/** The types of a runtime: handlers of tools, workflows and agents, and the context that a handler receives. */
import type * as z from 'zod';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { LogLevel } from '../protocol/payloads/event.js';
import type { TrustLevel } from '../protocol/payloads/parts.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { Content, StreamOptions, StreamWriter } from '../streams/content.js';

/** A JSON Schema, as an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Options of tools, workflows and agents. */
export interface HandlerOptions<I extends z.ZodType = z.ZodType> {
  /** A description for clients, and for the models that they serve. */
  readonly description?: string | undefined;
  /** The schema of the arguments. Clients receive it as JSON Schema; invalid arguments are refused with `INVALID_ARGUMENT`. @default any object */
  readonly input?: I | undefined;
  /** The schema of the result. A result that does not match is an `INTERNAL` error. @default anything */
  readonly output?: z.ZodType | undefined;
  /** JSON Schemas that clients receive instead of those of `input` and `output`. The runtime does not check values against them. @default none */
  readonly schemas?: { readonly input?: JsonSchema | undefined; readonly output?: JsonSchema | undefined } | undefined;
  /** The permissions that the handler may request, by name or pattern: `filesystem.*`. @default none */
  readonly permissions?: readonly string[] | undefined;
  /** If true, untrusted sessions may use it. @default false */
  readonly isPublic?: boolean | undefined;
  /** The retries of its jobs. @default one attempt, or what the client requests */
  readonly retry?: RetryPolicy | undefined;
  /** Milliseconds for all attempts together; the client may request less. @default Infinity */
  readonly timeoutMs?: number | undefined;
  /** The queue of its jobs. @default 'default' */
  readonly queue?: string | undefined;
  /** The priority in the queue; jobs of a higher one start earlier. @default 0 */
  readonly priority?: number | undefined;
}

/** Options of a tool. */
export interface ToolOptions<I extends z.ZodType = z.ZodType> extends HandlerOptions<I> {
  /** If true, a call becomes a durable job, which outlives connections and the process, where client and session allow it. @default false */
  readonly durable?: boolean | undefined;
  /** Hints about the behaviour of the tool, for clients: `{ readOnlyHint: true }`. @default none */
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** The input of an agent: its task, and the arguments of the command. */
export interface AgentInput extends Readonly<Record<string, unknown>> {
  /** The task, in natural language. */
  readonly task: string;
}

/** A function that executes a call and returns its result. The client receives a thrown `ArcpError` unchanged, and other errors as `INTERNAL`. */
export type Handler<I extends z.ZodType = z.ZodType> = (
  input: z.output<I>,
  context: JobContext,
) => unknown | Promise<unknown>;

/**
 * The context of a handler. After a retryable error or a crash, the handler runs again from its beginning: use `step` for side effects that
 * must happen once. Promises of reports (`progress`, `log`, `metric`, `emit`) resolve when the report is stored.
 */
export interface JobContext {
  /** The id of the job; `undefined` in a direct call. */
  readonly jobId: string | undefined;
  /** The id of the message that started the job or call. */
  readonly commandId: string;
  /** The id of the session that started it. */
  readonly sessionId: string;
  /** The principal of that session. */
  readonly principal: string;
  /** The trust of that session. */
  readonly trust: TrustLevel;
  /** The number of the attempt, starting at 1. */
  readonly attempt: number;
  /** Aborts when the job is cancelled, exceeds its timeout, or continues in another attempt. */
  readonly signal: AbortSignal;
  /** The trace of the job. */
  readonly traceId: string;
  /** The span of the job. */
  readonly spanId: string;
  /** The data of the latest checkpoint; `undefined` if there is none. */
  readonly restored: unknown;
  /** The operation key that the client has set. */
  readonly operationKey: string | undefined;
  /** Reports progress. @throws ArcpError `INVALID_ARGUMENT` if a member is invalid, such as a `percent` above 100 */
  readonly progress: (progress: PayloadOf<'job.progress'>) => Promise<void>;
  /** Reports a log message. */
  readonly log: (level: LogLevel, message: string, attributes?: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Reports a metric, to the client and to the telemetry of the runtime. */
  readonly metric: (metric: PayloadOf<'metric'>) => Promise<void>;
  /** Reports an event of your own. */
  readonly emit: (name: string, attributes?: Readonly<Record<string, unknown>>) => Promise<void>;
  /** The header for outgoing requests (W3C Trace Context); `undefined` if the client uses trace ids of another form. */
  readonly traceparent: string | undefined;
  /** Runs work in a span, which is reported when the work ends. */
  readonly span: Span['span'];
  /** The streams that the client supports: none, all except binary ones, or all. */
  readonly streams: 'none' | 'text' | 'all';
  /**
   * Opens a stream to the client. It ends with the job at the latest. If the client does not support streams, writes are dropped.
   *
   * @throws ArcpError `UNIMPLEMENTED` if the client does not support binary streams
   */
  readonly stream: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
  /**
   * Reads the next stream of the client with this name or of this kind, which may already be open. A slow reader slows the client down.
   * The iterator fails with `ABORTED` if the client disconnects. Each attempt at the job reads the streams again, from their beginning.
   */
  readonly incoming: <K extends StreamKind = StreamKind>(which?: K | string) => AsyncIterableIterator<Content<K>>;
  /** Stores a checkpoint, which the next attempt finds in `restored`. @returns its id @throws ArcpError `INVALID_ARGUMENT` if the data are not JSON */
  readonly checkpoint: (data: unknown, options?: CheckpointOptions) => Promise<string>;
  /** Sets the function that provides the data when a client requests a checkpoint. @default the data of the latest checkpoint */
  readonly onCheckpoint: (snapshot: () => unknown) => void;
  /**
   * Requests a permission. A valid lease of this job or session is reused, also by later attempts. Otherwise the policy decides, or the
   * client, and the job waits for the answer.
   *
   * @throws ArcpError `PERMISSION_DENIED` if it is denied or not declared; `DEADLINE_EXCEEDED` without an answer in time
   */
  readonly permission: (request: PermissionRequest) => Promise<Lease>;
  /**
   * Executes work once over all attempts, and stores its result as JSON. After a crash during the work it runs again: pass the operation key
   * on to services that deduplicate.
   *
   * @param key identifies the step within the job
   * @throws ArcpError `INVALID_ARGUMENT` if the result is not JSON
   */
  readonly step: <T>(key: string, work: (operationKey: string) => T | Promise<T>) => Promise<T>;
  /**
   * Calls a tool with the trust, permissions and signal of this job. The call and its outcome are reported.
   *
   * @throws ArcpError the error of the tool; `NOT_FOUND` if there is no such tool, `PERMISSION_DENIED` if an untrusted session may not use it,
   * `INVALID_ARGUMENT` if the arguments are invalid
   */
  readonly call: <R = unknown>(
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ) => Promise<R>;
  /**
   * Delegates a task to an agent as a child job. Resolves when the child is accepted.
   *
   * @throws ArcpError `NOT_FOUND` if there is no such agent, `PERMISSION_DENIED` if an untrusted session may not use it, `INVALID_ARGUMENT` if
   * the arguments are invalid, `RESOURCE_EXHAUSTED` if child jobs are nested too deeply
   */
  readonly delegate: <R = unknown>(agent: string, task: string, options?: DelegateOptions) => Promise<ChildJob<R>>;
  /**
   * Starts a workflow as a child job. Resolves when the child is accepted.
   *
   * @throws ArcpError `NOT_FOUND` if there is no such workflow, `PERMISSION_DENIED` if an untrusted session may not use it, `INVALID_ARGUMENT` if
   * the arguments are invalid, `RESOURCE_EXHAUSTED` if child jobs are nested too deeply
   */
  readonly startWorkflow: <R = unknown>(
    workflow: string,
    inputs?: Readonly<Record<string, unknown>>,
    options?: ChildOptions,
  ) => Promise<ChildJob<R>>;
  /**
   * Hands the job off to another agent, which continues from the latest checkpoint. Do not catch the error that it throws.
   *
   * @throws ArcpError `NOT_FOUND`; `FAILED_PRECONDITION` unless this is the durable job of an agent; `UNIMPLEMENTED` if handoff was not
   * negotiated
   */
  readonly handOff: (agent: string, options?: HandoffOptions) => Promise<never>;
  /** The handoff by which this agent received the job; `undefined` if there was none. */
  readonly handoff: Handoff | undefined;
  /** The values of the session. */
  readonly memory: KeyValueStore;
  /** The values that the job shares with its parent and child jobs. */
  readonly shared: KeyValueStore;
  /** Returns another shared context of the same principal, by its id. */
  readonly sharedContext: (id: string) => KeyValueStore;
}

/** Options of a checkpoint. */
export interface CheckpointOptions {
  /** A label for the client. */
  readonly label?: string | undefined;
  /** If true, the client receives the data. @default false */
  readonly isVisible?: boolean | undefined;
}

/** A registered tool, workflow or agent. */
export interface Registration {
  readonly kind: 'tool' | 'workflow' | 'agent';
  readonly name: string;
  readonly options: ToolOptions;
  readonly handler: Handler;
}

/** JSON values by key. Promises of changes resolve when the change is stored. */
export interface KeyValueStore {
  /** The id, for `sharedContext`. */
  readonly id: string;
  /** Returns a value; `undefined` if the key has none. */
  readonly get: <T = unknown>(key: string) => Promise<T | undefined>;
  /** Sets a value. @throws ArcpError `INVALID_ARGUMENT` if it is not JSON */
  readonly set: (key: string, value: unknown) => Promise<void>;
  /** Changes a value atomically, and returns the new one. @param change computes it; called again after a conflict */
  readonly update: <T = unknown>(key: string, change: (value: T | undefined) => T) => Promise<T>;
  /** Deletes a value. */
  readonly delete: (key: string) => Promise<void>;
  /** Returns all entries, in order of their keys. */
  readonly entries: () => Promise<readonly (readonly [key: string, value: unknown])[]>;
}

/** Retries of a job (spec 003, "Jobs": "Jobs MUST support retries"). */
export interface RetryPolicy {
  /** The number of attempts, including the first. @default 1 */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds before the second attempt. @default 1000 */
  readonly backoffMs?: number | undefined;
  /** The ratio of consecutive delays. @default 2 */
  readonly factor?: number | undefined;
  /** The longest delay between two attempts, in milliseconds. @default 60000 */
  readonly maxBackoffMs?: number | undefined;
}

/** Options of a call to another tool. */
export interface CallOptions {
  /** Identifies the call within the job, so that later attempts reuse its stored result. @default none; later attempts repeat the call */
  readonly key?: string | undefined;
}

/** Options of a child job. */
export interface ChildOptions {
  /** Identifies the child within the job; a child is started once over all attempts. @default a digest of its command */
  readonly key?: string | undefined;
  /** The permissions whose leases the child inherits, except those with a limited number of uses. @default none */
  readonly permissions?: readonly string[] | undefined;
  /** Milliseconds for all its attempts together. @default the limit of its registration, if any */
  readonly timeoutMs?: number | undefined;
}

/** Options of a delegated task. */
export interface DelegateOptions extends ChildOptions {
  /** The arguments besides the task. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Initial `shared` values of the agent. Others do not see them until the agent sets them. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
  /** The id of its shared context. @default that of the job */
  readonly contextId?: string | undefined;
}

/** A job that another job has started. It runs whether or not you wait for it, and is cancelled with its parent. */
export interface ChildJob<R = unknown> {
  /** The id of the child; `undefined` if the parent is a direct call. */
  readonly jobId: string | undefined;
  /** Waits for the result, and frees the slot of the parent meanwhile. @throws ArcpError the error of the child */
  readonly result: () => Promise<R>;
}

/** Options of a handoff. */
export interface HandoffOptions {
  /** The reason, for the next agent and the client. */
  readonly reason?: string | undefined;
  /** The permissions whose leases the job keeps. @default none */
  readonly permissions?: readonly string[] | undefined;
}

/** A handoff, as seen by the agent that received the job. */
export interface Handoff {
  /** The agent that handed the job over. */
  readonly from: string;
  /** The reason of the handoff. */
  readonly reason?: string | undefined;
}

/** The scope of a permission (spec 003, "Permissions": "scoped to a specific lease, resource, operation, and expiration time"). */
export interface Scope {
  /** The name of the permission, words joined by dots: `filesystem.write`. */
  readonly permission: string;
  /** The resource, such as `order:ord_4812`; a final `*` matches any suffix. @default all resources */
  readonly resource?: string | undefined;
  /** The operation, such as `delete`. @default all operations */
  readonly operation?: string | undefined;
}

/** A request of a handler for a permission. */
export interface PermissionRequest extends Scope {
  /** The reason shown to the user. */
  readonly reason?: string | undefined;
  /** The requested duration of the lease in milliseconds; `Infinity` for no end. The policy and the client may shorten it. @default 300000 */
  readonly leaseMs?: number | undefined;
  /** The risk shown to the user: `low`, `high`, ... */
  readonly risk?: string | undefined;
  /** A preview of the action, shown to the user. */
  readonly preview?: unknown;
  /** Distinguishes requests of the same scope within a job. */
  readonly key?: string | undefined;
}

/** A permission that was granted, until it expires. */
export interface Lease extends Scope {
  /** The id of the lease. */
  readonly leaseId: string;
  /** Milliseconds since 1970; `Infinity` for never. */
  readonly expiresAt: number;
  /** Conditions that the client has set. */
  readonly constraints: Readonly<Record<string, unknown>> | undefined;
  /**
   * Checks and counts a use; call it before each use.
   *
   * @param part narrows the scope. @default the whole scope
   * @throws ArcpError `LEASE_EXPIRED`; `PERMISSION_DENIED` if the lease does not cover the use or has no uses left
   */
  readonly use: (part?: Partial<Omit<Scope, 'permission'>>) => Promise<void>;
}

/** The role of a span (OpenTelemetry, "SpanKind"). */
export type SpanKind = 'internal' | 'client' | 'server' | 'producer' | 'consumer';

/** Options of a span. */
export interface SpanOptions {
  /** The attributes that the span begins with. */
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  /** The role of the span. @default 'internal' */
  readonly kind?: SpanKind | undefined;
}

/** A span that has not ended. */
export interface Span {
  /** The id of its trace. */
  readonly traceId: string;
  /** The id of the span. */
  readonly spanId: string;
  /** The header for outgoing requests (W3C Trace Context, section 3.2); `undefined` if the trace id has another form. */
  readonly traceparent: string | undefined;
  /** Sets attributes. */
  readonly set: (attributes: Readonly<Record<string, unknown>>) => void;
  /** Adds an event. */
  readonly event: (name: string, attributes?: Readonly<Record<string, unknown>>) => void;
  /** Runs work in a child span. */
  readonly span: <T>(name: string, work: (span: Span) => T | Promise<T>, options?: SpanOptions) => Promise<T>;
}

/** A receiver of spans and metrics besides the client: `openTelemetry(api)`, or an object of your own. Errors that it throws do not affect jobs. */
export interface Telemetry {
  /** Starts a span. */
  readonly startSpan: (name: string, start: SpanStart) => TelemetrySpan;
  /** Records a metric. */
  readonly metric: (metric: TelemetryMetric) => void;
  /**
   * Observes the metrics of a runtime and its store from now on: calls `measure` each time that it collects metrics.
   *
   * @returns a function that ends the observation
   * @default they are not observed
   */
  readonly observe?:
    | ((metrics: readonly ObservedMetric[], measure: () => Promise<readonly TelemetryMetric[]>) => () => void)
    | undefined;
}

/** A gauge that a runtime measures on request. */
export interface ObservedMetric extends Pick<TelemetryMetric, 'name' | 'unit'> {
  /** A description for people. */
  readonly description: string;
}

/** The start of a span. */
export interface SpanStart {
  /** The id of its trace. */
  readonly traceId: string;
  /** The id of the parent; `undefined` for the first span of a trace. */
  readonly parentSpanId: string | undefined;
  /** The role of the span. */
  readonly kind: SpanKind;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The attributes that the span begins with. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A span that a receiver has started. */
export interface TelemetrySpan {
  /** The id for child spans. */
  readonly spanId: string;
  /** Adds an event. @param at milliseconds since 1970 */
  readonly event: (name: string, attributes: Readonly<Record<string, unknown>>, at: number) => void;
  /** Ends the span. */
  readonly end: (ended: {
    /** Milliseconds since 1970. */
    readonly endedAt: number;
    /** Attributes to add. */
    readonly attributes: Readonly<Record<string, unknown>>;
    /** The error with which the work failed. */
    readonly error?: { readonly code: string; readonly message: string } | undefined;
  }) => void;
}

/** A metric that a handler or a runtime reports. */
export interface TelemetryMetric {
  /** The name of the instrument. */
  readonly name: string;
  /** The measured value; the increment of a counter. */
  readonly value: number;
  /** The unit, such as `ms`. */
  readonly unit?: string | undefined;
  /** The kind of instrument. @default 'gauge' */
  readonly kind?: 'counter' | 'gauge' | 'histogram' | undefined;
  /** The names and values by which metrics are grouped. */
  readonly dims?: Readonly<Record<string, string | number | boolean>> | undefined;
}
