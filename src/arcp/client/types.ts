/** What a client of a runtime is given, and what it may say. */
import type { ReconnectOptions } from '../../async/reconnect.js';
import type { Channel } from '../../channels/channel.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import type { JobDisposal } from '../protocol/payloads/control.js';
import type { JobState, SessionMode, TrustLevel } from '../protocol/payloads/parts.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { Content, StreamOptions, StreamWriter } from '../streams/content.js';

export type { ReconnectOptions };

/** Opens a connection, each time that one is needed. */
export type Dial = () => Channel | Promise<Channel>;

/** The position of a client: enough to resume in another process. */
export interface Cursor {
  readonly sessionId: string;
  readonly resumeToken: string | undefined;
  /** The last message seen that the runtime stores. */
  readonly lastMessageId: string | undefined;
}

/** Stores cursors. */
export interface CursorStore {
  readonly load: () => Cursor | undefined | Promise<Cursor | undefined>;
  readonly save: (cursor: Cursor) => void | Promise<void>;
}

export interface ClientOptions {
  /** @default streaming, durable jobs, checkpoints, handoff */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  readonly auth?: { readonly scheme: string; readonly token?: string | undefined } | undefined;
  /** The lifetime of the session compared to its connection. @default by the runtime */
  readonly mode?: SessionMode | undefined;
  /** The requested trust; the runtime may give less. */
  readonly trust?: TrustLevel | undefined;
  /** Identifies the client in the runtime's logs. */
  readonly client?:
    | { readonly kind: string; readonly version: string; readonly principal?: string | undefined }
    | undefined;
  /** Resumes a session of another process, and stores the position. */
  readonly cursor?: CursorStore | undefined;
  readonly reconnect?: ReconnectOptions | false | undefined;
  /** Milliseconds for the answer to a command, and for the first session to open; `Infinity` waits without limit. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds of silence before a ping; `Infinity` for no pings. @default the runtime's `heartbeat_interval_seconds`, or 15000 */
  readonly heartbeatMs?: number | undefined;
  /** Answers permission requests. An answer that is invalid or refused denies. @default requests are denied */
  readonly onPermission?:
    | ((request: Envelope<'permission.request'>) => PermissionAnswer | Promise<PermissionAnswer>)
    | undefined;
  /** Receives every message of the runtime once, in the order of its jobs and streams. */
  readonly onMessage?: ((message: Envelope) => void) | undefined;
  /** Receives errors that no call reports. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A grant with its bounds, or a denial. */
export type PermissionAnswer =
  | ({ readonly decision: 'grant' } & PayloadOf<'permission.grant'>)
  | ({ readonly decision: 'deny' } & PayloadOf<'permission.deny'>);

export interface InvokeOptions {
  /** Requests a durable job or a direct call. @default by the runtime */
  readonly mode?: 'auto' | 'direct' | 'job' | undefined;
  /** Of two calls with the same key only one is carried out. */
  readonly operationKey?: string | undefined;
  /** Milliseconds for all attempts together; `Infinity` for no limit of the client's. @default the limit of the tool, if any */
  readonly timeoutMs?: number | undefined;
  readonly retry?: PayloadOf<'tool.invoke'>['retry'] | undefined;
  readonly traceId?: string | undefined;
  readonly parentSpanId?: string | undefined;
  /** Aborting it cancels the work. */
  readonly signal?: AbortSignal | undefined;
}

export interface CancelOptions {
  readonly reason?: string | undefined;
  /** Milliseconds that the work may continue; 0 for none, `Infinity` for no limit. @default `workers.cancelGraceMs` of the runtime */
  readonly deadlineMs?: number | undefined;
}

/** Work that this client or another one has started. */
export interface Invocation<R = unknown> {
  /** The id of the command; `undefined` for a job that was looked up. */
  readonly id: string | undefined;
  /** Resolves with the id of the job, or `undefined` for a direct call. @throws ArcpError the refusal */
  readonly accepted: Promise<string | undefined>;
  /** The last known state. */
  readonly state: JobState;
  /**
   * Iterates over the messages about the work, each once and in order, from now to the last one. Fails with `UNAVAILABLE` if the connection
   * is lost for good.
   */
  readonly events: () => AsyncIterableIterator<Envelope>;
  /**
   * Reads the next stream with this name or of this kind, from now on. Fails with its error, or with `UNAVAILABLE` if the connection is
   * lost for good. A slow reader slows the sender down; one that does not read stops it.
   */
  readonly stream: <K extends StreamKind = StreamKind>(which?: K | string) => AsyncIterableIterator<Content<K>>;
  /**
   * Opens a stream to accepted work, paced by its reader; fails with `ABORTED` if the connection is lost.
   * @throws ArcpError `FAILED_PRECONDITION` if the work was not accepted or has ended
   */
  readonly upload: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
  /** Resolves with the result. @throws ArcpError the error of the work; `CANCELLED` or `DEADLINE_EXCEEDED` if it was cancelled */
  readonly result: () => Promise<R>;
  /** Requests cancellation; resolves when the runtime accepts. @throws ArcpError `FAILED_PRECONDITION` if the work has ended */
  readonly cancel: (options?: CancelOptions) => Promise<void>;
}

/** The runtime's description of a session. */
export type SessionInfo = PayloadOf<'session.accepted'>;

export interface Client {
  readonly session: SessionInfo;
  /**
   * Calls a tool. What JSON would change in the arguments, such as NaN, a Map or bytes, fails with `INVALID_ARGUMENT` and its
   * `details.path`; so it does for workflows and agents.
   */
  readonly invoke: <R = unknown>(
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: InvokeOptions,
  ) => Invocation<R>;
  readonly startWorkflow: <R = unknown>(
    workflow: string,
    inputs?: Readonly<Record<string, unknown>>,
    options?: Omit<InvokeOptions, 'mode'> & { readonly steps?: PayloadOf<'workflow.start'>['steps'] },
  ) => Invocation<R>;
  readonly delegate: <R = unknown>(
    agent: string,
    task: string,
    options?: Pick<InvokeOptions, 'operationKey' | 'traceId' | 'parentSpanId' | 'signal'> & {
      readonly arguments?: Readonly<Record<string, unknown>>;
      readonly context?: PayloadOf<'agent.delegate'>['context'];
    },
  ) => Invocation<R>;
  /** Follows a job of the same principal from its beginning. */
  readonly job: <R = unknown>(jobId: string) => Invocation<R>;
  /** Pings the runtime. @returns milliseconds until it answered */
  readonly ping: () => Promise<number>;
  /** Closes the session, and ends the connection. */
  readonly close: (options?: { readonly jobs?: JobDisposal; readonly reason?: string }) => Promise<void>;
  /** Ends the connection; the session can be resumed. */
  readonly disconnect: () => Promise<void>;
  /** Resolves at the end of the last connection, with its error if there was one. */
  readonly closed: Promise<unknown>;
}
