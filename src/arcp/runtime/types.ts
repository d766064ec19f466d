/** The types of a runtime: tools, what their handlers are given, and what those may ask for. */
import type * as z from 'zod';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { LogLevel } from '../protocol/payloads/event.js';
import type { TrustLevel } from '../protocol/payloads/parts.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { Content, StreamOptions, StreamWriter } from '../streams/content.js';

/** How far somebody gets: what a tool, a workflow and an agent have in common. */
export interface WorkOptions<I extends z.ZodType = z.ZodType> {
  readonly description?: string | undefined;
  /** What its arguments are. @default any object */
  readonly input?: I | undefined;
  /** What its result is; another result is an error of its own. @default anything */
  readonly output?: z.ZodType | undefined;
  /** Permissions that it will need, for others to know. */
  readonly permissions?: readonly string[] | undefined;
  /** Whether sessions of no trust may use it. @default false */
  readonly isPublic?: boolean | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** Milliseconds for all attempts together. The client may ask for less. @default no bound */
  readonly timeoutMs?: number | undefined;
  /** @default 'default' */
  readonly queue?: string | undefined;
  /** Those with more are begun before. @default 0 */
  readonly priority?: number | undefined;
}

export interface ToolOptions<I extends z.ZodType = z.ZodType> extends WorkOptions<I> {
  /**
   * Whether it is carried out as a durable job, where client and session allow it and do not ask otherwise: it outlives connections
   * and this process. @default false
   */
  readonly durable?: boolean | undefined;
}

/** What an agent is given. */
export interface AgentInput extends Readonly<Record<string, unknown>> {
  readonly task: string;
}

/** Does the work. What it returns is the result, and what it throws the error: an `ArcpError` as it is, all else as `INTERNAL`. */
export type Handler<I extends z.ZodType = z.ZodType> = (
  input: z.output<I>,
  context: JobContext,
) => unknown | Promise<unknown>;

/**
 * What a handler knows of its call, and what it can say meanwhile.
 *
 * A handler may be run again from its top: after an error that is worth another attempt, and after the end of the process. What must
 * not be done twice belongs into a `step`.
 */
export interface JobContext {
  /** `undefined` in a direct call. */
  readonly jobId: string | undefined;
  /** The id of the command. */
  readonly commandId: string;
  readonly sessionId: string;
  readonly principal: string;
  readonly trust: TrustLevel;
  /** From 1 on. */
  readonly attempt: number;
  /** Aborted when the work is to end: it was cancelled, or another attempt has begun elsewhere. */
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly spanId: string;
  /** The data of the latest checkpoint, where there is one that a former attempt has made. */
  readonly restored: unknown;
  /** What the client calls the operation, so that it is carried out once. */
  readonly operationKey: string | undefined;
  /**
   * Says how far it is. All that is said is kept before it is sent; whoever wants to know when that has been waits for the promise.
   *
   * @throws ArcpError `INVALID_ARGUMENT` on what is no progress
   */
  readonly progress: (progress: PayloadOf<'job.progress'>) => Promise<void>;
  readonly log: (level: LogLevel, message: string, attributes?: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly metric: (metric: PayloadOf<'metric'>) => Promise<void>;
  readonly emit: (name: string, attributes?: Readonly<Record<string, unknown>>) => Promise<void>;
  /** For requests to others (W3C Trace Context); `undefined` where the client's trace has an id of another shape. */
  readonly traceparent: string | undefined;
  /** Does something as a stretch of the work, which is told of when it is over: for traces. */
  readonly span: Span['span'];
  /**
   * Opens a stream to the client. It ends with the work at the latest. A client that reads no streams is sent none; what is written goes nowhere.
   *
   * @throws ArcpError `UNIMPLEMENTED` on a binary stream for a client that reads none
   */
  readonly stream: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
  /**
   * What a stream carries that the client sends to this work: the next that has this name, or is of this kind, or any, whether it was opened
   * already or will be. Whoever reads slowly slows the client down. It ends with the stream; where the client goes away in between, it fails with
   * `ABORTED`, and what it had sent is not kept.
   */
  readonly incoming: <K extends StreamKind = StreamKind>(which?: K | string) => AsyncIterableIterator<Content<K>>;
  /**
   * Keeps where the work stands; the next attempt finds it in `restored`.
   *
   * @returns the id of the checkpoint
   */
  readonly checkpoint: (data: unknown, options?: CheckpointOptions) => Promise<string>;
  /** Says where the work stands when a client asks for a checkpoint. @default where it stood at the latest one */
  readonly onCheckpoint: (snapshot: () => unknown) => void;
  /**
   * Asks for something that is not everybody's to do. Where it was granted before in this job, also in an earlier attempt, and that still
   * holds, nobody is asked again; else the policy decides, or the client is asked and the work waits, however long that takes.
   *
   * @throws ArcpError `PERMISSION_DENIED`; `DEADLINE_EXCEEDED` when nobody answers
   */
  readonly permission: (wish: PermissionWish) => Promise<Lease>;
  /**
   * Does something once over all attempts: the first result is kept, and given again. Where the process ends after it was done and before
   * its result is kept, it is done again: give whoever carries it out the operation key, too.
   *
   * @param key names it within the job
   */
  readonly step: <T>(key: string, work: (operationKey: string) => T | Promise<T>) => Promise<T>;
  /**
   * Calls a tool as a part of this work: with its trust, its grants and its signal. The call and its outcome are told of.
   *
   * @throws ArcpError what the tool fails with; `NOT_FOUND`, `INVALID_ARGUMENT`
   */
  readonly call: <R = unknown>(
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ) => Promise<R>;
  /** Gives a task to an agent, as a job of its own. Resolves when it was taken. @throws ArcpError `NOT_FOUND`, `INVALID_ARGUMENT` */
  readonly delegate: <R = unknown>(agent: string, task: string, options?: DelegateOptions) => Promise<ChildJob<R>>;
  readonly startWorkflow: <R = unknown>(
    workflow: string,
    inputs?: Readonly<Record<string, unknown>>,
    options?: ChildOptions,
  ) => Promise<ChildJob<R>>;
  /**
   * Gives the job to another agent, which goes on from the latest checkpoint with what was done once. It never returns: what it throws is to be
   * let through.
   *
   * @throws ArcpError `NOT_FOUND`, `FAILED_PRECONDITION` for what is no agent's job, `UNIMPLEMENTED` where the client knows of no handoff
   */
  readonly handOff: (agent: string, options?: HandoffOptions) => Promise<never>;
  /** Who had the job before. */
  readonly handedOver: HandedOver | undefined;
  /** What the session remembers, for all of its work and as long as it is kept. */
  readonly memory: Values;
  /** What the job shares with those that it delegates to, and with the one that has delegated to it. */
  readonly shared: Values;
  /** Another shared context of the same principal, by its id. */
  readonly sharedContext: (id: string) => Values;
}

export interface CheckpointOptions {
  readonly label?: string | undefined;
  /** Whether the client is shown the data. @default false */
  readonly isVisible?: boolean | undefined;
}

/** Something that can be called: a tool, a workflow or an agent. */
export interface Work {
  readonly kind: 'tool' | 'workflow' | 'agent';
  readonly name: string;
  readonly options: ToolOptions;
  readonly handler: Handler;
}

/** Values are JSON. All that is written is kept before the promise resolves. */
export interface Values {
  /** What names them, for others that are to have the same. */
  readonly id: string;
  readonly get: <T = unknown>(key: string) => Promise<T | undefined>;
  readonly set: (key: string, value: unknown) => Promise<void>;
  /**
   * Makes one value of the one that is there. Of several at once, each sees what the one before has made of it.
   *
   * @param change may be called more than once
   */
  readonly update: <T = unknown>(key: string, change: (value: T | undefined) => T) => Promise<T>;
  readonly delete: (key: string) => Promise<void>;
  /** All, in the order of their keys. */
  readonly entries: () => Promise<readonly (readonly [key: string, value: unknown])[]>;
}

/** When and how often a job is tried again (spec 003, "Jobs": "Jobs MUST support retries"). */
export interface RetryPolicy {
  /** All attempts together, the first included. @default 1 */
  readonly maxAttempts?: number | undefined;
  /** Milliseconds before the second attempt. @default 1000 */
  readonly backoffMs?: number | undefined;
  /** By how much each wait is longer than the one before. @default 2 */
  readonly factor?: number | undefined;
  /** The longest wait, in milliseconds. @default 60000 */
  readonly maxBackoffMs?: number | undefined;
}

export interface CallOptions {
  /** Names the call within the job, so that its result is kept, and given again to the next attempt. @default it is made again */
  readonly key?: string | undefined;
}

export interface ChildOptions {
  /**
   * Names it within the job: asked for again, in this attempt or the next, it is the same child. @default what is asked for:
   * the same task is given once
   */
  readonly key?: string | undefined;
  /** Permissions that it is given of those which the job has: never more, and none that are for a number of uses. @default none */
  readonly permissions?: readonly string[] | undefined;
  /** Milliseconds for it. */
  readonly timeoutMs?: number | undefined;
}

export interface DelegateOptions extends ChildOptions {
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** What its `shared` values are where the shared context has none of that name. Only the agent itself sees them, until it sets them. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
  /** The context that it shares. @default that of the job */
  readonly contextId?: string | undefined;
}

/** Work that was given to somebody. It goes on whether its outcome is waited for or not, and ends with the job when that is cancelled. */
export interface ChildJob<R = unknown> {
  /** `undefined` where the job is a direct call: so is this one then. */
  readonly jobId: string | undefined;
  /**
   * Waits for its end. Meanwhile others may be worked on in the place of the job.
   *
   * @throws ArcpError what it failed with
   */
  readonly result: () => Promise<R>;
}

export interface HandoffOptions {
  readonly reason?: string | undefined;
  /** Permissions that the job keeps of those which it has. @default none */
  readonly permissions?: readonly string[] | undefined;
}

/** Who had the work before, as whoever takes it over is told. */
export interface HandedOver {
  readonly from: string;
  readonly reason?: string | undefined;
}

/** What a permission is for (spec 003, "Permissions": "scoped to a specific lease, resource, operation, and expiration time"). */
export interface Scope {
  /** Names joined by dots: `filesystem.write`. */
  readonly permission: string;
  /** On what: `order:ord_4812`. One that ends with `*` stands for all that begin alike. */
  readonly resource?: string | undefined;
  readonly operation?: string | undefined;
}

export interface PermissionWish extends Scope {
  /** Why, for whoever is asked. */
  readonly reason?: string | undefined;
  /** For how long. @default 300 */
  readonly leaseSeconds?: number | undefined;
  /** How bad it is when it goes wrong, for whoever is asked: `low`, `high`, ... */
  readonly risk?: string | undefined;
  /** What is going to be done, for whoever is asked. */
  readonly preview?: unknown;
  /** Tells it from another one of the same scope in the same job, which is asked for once more. */
  readonly key?: string | undefined;
}

/** Something that may be done, within its bounds. */
export interface Lease extends Scope {
  readonly leaseId: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly constraints: Readonly<Record<string, unknown>> | undefined;
  /**
   * Says that it is used now: to be called right before what is allowed is done, each time.
   *
   * @param wanted what is done, where that is less than what was granted. @default all of it
   * @throws ArcpError `LEASE_EXPIRED`, or `PERMISSION_DENIED` for what it does not cover, and when it was used as often as it may be
   */
  readonly use: (wanted?: Partial<Omit<Scope, 'permission'>>) => Promise<void>;
}

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
