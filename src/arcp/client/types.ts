/** What a client of a runtime is given, and what it may say. */
import type { Channel } from '../../channels/channel.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import type { JobDisposal } from '../protocol/payloads/control.js';
import type { JobState, SessionMode, TrustLevel } from '../protocol/payloads/parts.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { Content, StreamOptions, StreamWriter } from '../streams/content.js';

/** Makes a connection, each time that one is needed. */
export type Dial = () => Channel | Promise<Channel>;

/** Where a client stands: enough to go on in another process. */
export interface Cursor {
  readonly sessionId: string;
  readonly resumeToken: string | undefined;
  /** The last message that was seen of what the runtime keeps. */
  readonly lastMessageId: string | undefined;
}

/** Where cursors are kept. */
export interface CursorStore {
  readonly load: () => Cursor | undefined | Promise<Cursor | undefined>;
  readonly save: (cursor: Cursor) => void | Promise<void>;
}

export interface ClientOptions {
  /** @default streaming, durable jobs, checkpoints, handoff */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  readonly auth?: { readonly scheme: string; readonly token?: string | undefined } | undefined;
  /** How far the session outlives its connection. @default what the runtime says */
  readonly mode?: SessionMode | undefined;
  /** The trust that is asked for; the runtime may give less. */
  readonly trust?: TrustLevel | undefined;
  /** Who this is, for the runtime's logs. */
  readonly client?:
    | { readonly kind: string; readonly version: string; readonly principal?: string | undefined }
    | undefined;
  /** Where to go on: a session that another process has begun. What is seen is kept there. */
  readonly cursor?: CursorStore | undefined;
  readonly reconnect?: ReconnectOptions | false | undefined;
  /** Milliseconds for an answer to a command, and for the first session to be open. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds without a word after which the runtime is asked whether it is there. @default what it says of itself */
  readonly heartbeatMs?: number | undefined;
  /** Answers requests for permissions. An answer that cannot be sent, or that the runtime refuses, denies. @default they are denied */
  readonly onPermission?:
    | ((request: Envelope<'permission.request'>) => PermissionAnswer | Promise<PermissionAnswer>)
    | undefined;
  /** Told of every message of the runtime, each once, in the order of its jobs and streams. */
  readonly onMessage?: ((message: Envelope) => void) | undefined;
  /** Told what goes wrong and is nobody's answer. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface ReconnectOptions {
  /** Milliseconds before the first attempt; each waits twice as long as the one before. @default 100 */
  readonly minDelayMs?: number | undefined;
  /** @default 10000 */
  readonly maxDelayMs?: number | undefined;
  /** Attempts in a row that may fail. @default no bound */
  readonly maxAttempts?: number | undefined;
}

/** Granted, with what the grant is bounded by; or denied. */
export type PermissionAnswer =
  | ({ readonly decision: 'grant' } & PayloadOf<'permission.grant'>)
  | ({ readonly decision: 'deny' } & PayloadOf<'permission.deny'>);

export interface InvokeOptions {
  /** Whether it becomes a durable job. @default what the runtime says of the tool */
  readonly mode?: 'auto' | 'direct' | 'job' | undefined;
  /** Of two calls with the same key only one is carried out. */
  readonly operationKey?: string | undefined;
  /** Milliseconds for the work, all attempts together. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: PayloadOf<'tool.invoke'>['retry'] | undefined;
  /** The trace that it belongs to. */
  readonly traceId?: string | undefined;
  readonly parentSpanId?: string | undefined;
  /** Aborting it cancels the work. */
  readonly signal?: AbortSignal | undefined;
}

export interface CancelOptions {
  readonly reason?: string | undefined;
  /** Milliseconds that the work may go on before it is ended by force. */
  readonly deadlineMs?: number | undefined;
}

/** Something that was asked for, or a job that somebody else has asked for. */
export interface Invocation<R = unknown> {
  /** The id of the command; `undefined` for a job that was only looked up. */
  readonly id: string | undefined;
  /**
   * Resolves when the runtime has taken it: with the id of the job, or `undefined` for a direct call.
   *
   * @throws ArcpError what it was refused with
   */
  readonly accepted: Promise<string | undefined>;
  /** Its state, as far as it is known. */
  readonly state: JobState;
  /**
   * What is said of it, from the first message on, each once and in order; it ends with the last one, and fails with
   * `UNAVAILABLE` where the connection ends before and is not made again. To be called at once, or what came before is left out.
   */
  readonly events: () => AsyncIterableIterator<Envelope>;
  /**
   * What a stream of it carries, as it comes: the next that is opened and has this name, or is of this kind, or any. It ends with the stream, and
   * fails with its error, or with `UNAVAILABLE` where the connection ends before and is not made again. To be called at once. Whoever reads
   * slowly slows the sender down; whoever has asked for it and does not read stops it, and with it work that waits until it was read.
   */
  readonly stream: <K extends StreamKind = StreamKind>(which?: K | string) => AsyncIterableIterator<Content<K>>;
  /**
   * Opens a stream to the work. What is written goes as fast as its reader wants it; where the connection is lost, it fails with `ABORTED`.
   * To be opened once the work was accepted.
   *
   * @throws ArcpError `FAILED_PRECONDITION` when it was not, or has ended
   */
  readonly upload: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
  /**
   * Resolves with the result.
   *
   * @throws ArcpError what it failed with; `CANCELLED` or `DEADLINE_EXCEEDED` where it was cancelled
   */
  readonly result: () => Promise<R>;
  /**
   * Asks for its end. Resolves when the runtime has taken that.
   *
   * @throws ArcpError `FAILED_PRECONDITION` when it has ended already
   */
  readonly cancel: (options?: CancelOptions) => Promise<void>;
}

/** What a runtime has said of a session. */
export type SessionInfo = PayloadOf<'session.accepted'>;

export interface Client {
  readonly session: SessionInfo;
  /**
   * Calls a tool. Arguments are sent as JSON: what JSON would change, such as NaN, a Map or bytes, makes the invocation fail with
   * `INVALID_ARGUMENT`, and `details.path` is its place. The same holds for what workflows and agents are given.
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
  /** A job that was begun elsewhere, by the same principal: all that was said of it, and what is said now. */
  readonly job: <R = unknown>(jobId: string) => Invocation<R>;
  /** Asks whether the runtime is there. @returns milliseconds until it answered */
  readonly ping: () => Promise<number>;
  /** Closes the session, and ends the connection. */
  readonly close: (options?: { readonly jobs?: JobDisposal; readonly reason?: string }) => Promise<void>;
  /** Ends the connection and leaves the session as it is, to be taken up again. */
  readonly disconnect: () => Promise<void>;
  /** Resolves when there will be no connection any more: with the error, where there was one. */
  readonly closed: Promise<unknown>;
}
