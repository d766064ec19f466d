/** What a runtime is made of by its host: tools, and what their handlers are given. */
import type * as z from 'zod';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { LogLevel } from '../protocol/payloads/event.js';
import type { TrustLevel } from '../protocol/payloads/parts.js';
import type { StreamKind } from '../protocol/payloads/stream.js';
import type { Content } from '../streams/content.js';
import type { StreamOptions, StreamWriter } from '../streams/contract.js';
import type {
  CallOptions,
  ChildJob,
  ChildOptions,
  DelegateOptions,
  HandedOver,
  HandoffOptions,
} from './children/contract.js';
import type { Lease, PermissionWish } from './permissions/contract.js';
import type { Span } from './telemetry/contract.js';

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
