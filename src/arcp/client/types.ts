/** The types of a client: its options, invocations and methods. */
import type { ReconnectOptions } from '../../async/reconnect.js';
import type { Channel } from '../../channels/channel.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import type { JobDisposal } from '../protocol/payloads/control.js';
import type { JobState, SessionMode, TrustLevel } from '../protocol/payloads/parts.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { Content, StreamOptions, StreamWriter } from '../streams/content.js';

export type { ReconnectOptions };

/** A function that opens a connection. The client calls it for each connection. */
export type Dial = () => Channel | Promise<Channel>;

/** The position of a client, with which another process can resume its session. */
export interface Cursor {
  /** The id of the session. */
  readonly sessionId: string;
  /** The secret that resumes the session; `undefined` if it cannot be resumed. */
  readonly resumeToken: string | undefined;
  /** The id of the last received message that the runtime stores. */
  readonly lastMessageId: string | undefined;
}

/** A store of the cursor of one client. */
export interface CursorStore {
  /** Returns the stored cursor; `undefined` if there is none. */
  readonly load: () => Cursor | undefined | Promise<Cursor | undefined>;
  /** Stores a cursor. */
  readonly save: (cursor: Cursor) => void | Promise<void>;
}

/** Options of a client. */
export interface ClientOptions {
  /** The capabilities of the client. @default all that the protocol defines */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** Credentials for `session.open`. @default none */
  readonly auth?: { readonly scheme: string; readonly token?: string | undefined } | undefined;
  /** The mode of the session. @default by the runtime: `durable` if it supports durable jobs */
  readonly mode?: SessionMode | undefined;
  /** The requested trust; the runtime may grant less. @default what the runtime grants */
  readonly trust?: TrustLevel | undefined;
  /** A description of the client for the logs of the runtime. @default pegwire */
  readonly client?:
    | { readonly kind: string; readonly version: string; readonly principal?: string | undefined }
    | undefined;
  /** Stores the position of the client. If it has one, the client resumes that session. @default none */
  readonly cursor?: CursorStore | undefined;
  /** Reconnection after a lost connection; `false` for none. @default { minDelayMs: 100, maxDelayMs: 10000, maxAttempts: Infinity } */
  readonly reconnect?: ReconnectOptions | false | undefined;
  /** Milliseconds for the answer to a command, and for the first session to open; `Infinity` waits without limit. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds of silence before a ping; `Infinity` for no pings. @default the runtime's `heartbeat_interval_seconds`, or 15000 */
  readonly heartbeatMs?: number | undefined;
  /** Answers permission requests. If it throws or its answer is invalid, the request is denied. @default denies all requests */
  readonly onPermission?:
    | ((request: Envelope<'permission.request'>) => PermissionAnswer | Promise<PermissionAnswer>)
    | undefined;
  /** Receives each message of the runtime once, in order within each job and stream. */
  readonly onMessage?: ((message: Envelope) => void) | undefined;
  /** Receives errors that no call reports, such as invalid messages. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The answer to a permission request: a grant with its limits, or a denial. */
export type PermissionAnswer =
  | ({ readonly decision: 'grant' } & PayloadOf<'permission.grant'>)
  | ({ readonly decision: 'deny' } & PayloadOf<'permission.deny'>);

/** Options of a call. */
export interface InvokeOptions {
  /** Requests a direct call or a durable job. @default 'auto': the runtime decides */
  readonly mode?: 'auto' | 'direct' | 'job' | undefined;
  /** The operation key: of several calls with the same key, the runtime executes one. */
  readonly operationKey?: string | undefined;
  /** Milliseconds for all attempts together; `Infinity` for no limit of the client's. @default the limit of the tool, if any */
  readonly timeoutMs?: number | undefined;
  /** Requested retries, which apply if the tool has no policy. */
  readonly retry?: PayloadOf<'tool.invoke'>['retry'] | undefined;
  /** The trace of the call. @default a new one */
  readonly traceId?: string | undefined;
  /** The span that makes the call. */
  readonly parentSpanId?: string | undefined;
  /** Cancels the call when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a cancellation. */
export interface CancelOptions {
  /** The reason, for the handler and the logs. */
  readonly reason?: string | undefined;
  /** Milliseconds that the handler may continue; 0 for none, `Infinity` for no limit. @default `workers.cancelGraceMs` of the runtime */
  readonly deadlineMs?: number | undefined;
}

/** A call or job that this client or another one has started. */
export interface Invocation<R = unknown> {
  /** The id of the command; `undefined` for a job that was looked up. */
  readonly id: string | undefined;
  /** Resolves with the id of the job, or `undefined` for a direct call. Rejects with the refusal of the runtime. */
  readonly accepted: Promise<string | undefined>;
  /** The last known state of the job. */
  readonly state: JobState;
  /**
   * Iterates over the messages of the job, each once and in order, from this call to the last message. The iterator fails with `UNAVAILABLE`
   * if the connection is lost and the client does not reconnect.
   */
  readonly events: () => AsyncIterableIterator<Envelope>;
  /**
   * Reads the next stream with this name or of this kind that opens after this call. The iterator fails with the error of the stream, or with
   * `UNAVAILABLE` if the connection is lost and the client does not reconnect. A slow reader slows the sender down.
   */
  readonly stream: <K extends StreamKind = StreamKind>(which?: K | string) => AsyncIterableIterator<Content<K>>;
  /**
   * Opens a stream to an accepted call or job. Its writes fail with `ABORTED` if the connection is lost.
   *
   * @throws ArcpError `FAILED_PRECONDITION` if the call is not accepted yet or has ended; `UNAVAILABLE` without a connection
   */
  readonly upload: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
  /** Waits for the result. @throws ArcpError the error of the handler; `CANCELLED` or `DEADLINE_EXCEEDED` if the job was cancelled */
  readonly result: () => Promise<R>;
  /** Cancels the job. Resolves when the runtime has accepted the request. @throws ArcpError `FAILED_PRECONDITION` if the job has ended */
  readonly cancel: (options?: CancelOptions) => Promise<void>;
}

/** The description of a session by the runtime: its capabilities, tools, workflows and agents. */
export type SessionInfo = PayloadOf<'session.accepted'>;

/** A client with an open session. */
export interface Client {
  /** The session, as the runtime has described it last. */
  readonly session: SessionInfo;
  /**
   * Calls a tool. Arguments that JSON cannot represent, such as NaN, a Map or bytes, fail the call with `INVALID_ARGUMENT` and their
   * `details.path`.
   */
  readonly invoke: <R = unknown>(
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: InvokeOptions,
  ) => Invocation<R>;
  /** Starts a workflow, by its registered name or with steps in the command. */
  readonly startWorkflow: <R = unknown>(
    workflow: string,
    inputs?: Readonly<Record<string, unknown>>,
    options?: Omit<InvokeOptions, 'mode'> & { readonly steps?: PayloadOf<'workflow.start'>['steps'] },
  ) => Invocation<R>;
  /** Delegates a task to an agent. */
  readonly delegate: <R = unknown>(
    agent: string,
    task: string,
    options?: Pick<InvokeOptions, 'operationKey' | 'traceId' | 'parentSpanId' | 'signal'> & {
      readonly arguments?: Readonly<Record<string, unknown>>;
      readonly context?: PayloadOf<'agent.delegate'>['context'];
    },
  ) => Invocation<R>;
  /** Follows a job of the same principal, from its first message. */
  readonly job: <R = unknown>(jobId: string) => Invocation<R>;
  /** Pings the runtime. @returns the milliseconds until it answered */
  readonly ping: () => Promise<number>;
  /** Closes the session, and ends the connection. @param options `jobs` is the treatment of running jobs, by default `detach` */
  readonly close: (options?: { readonly jobs?: JobDisposal; readonly reason?: string }) => Promise<void>;
  /** Ends the connection. The session can be resumed. */
  readonly disconnect: () => Promise<void>;
  /** Resolves when the last connection has ended, with its error if there was one. */
  readonly closed: Promise<unknown>;
}
