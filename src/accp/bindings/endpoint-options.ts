import type { Diagnostic } from '../../text/diagnostic.js';
import type { Codec } from '../codec/codec.js';
import type { Loss, Message, MessageInput } from '../message/message.js';
import type { Session, SessionOptions } from '../session/session.js';
import type { FrameHandler } from './frames.js';

/** An answer to a message. A string is a message of the chat profile; `null` means that there is none. */
export type Answer = MessageInput | string | null | undefined;

/** The context of a message that a handler answers. */
export interface AnswerContext {
  /** The session of the message. */
  readonly session: Session;
  /** Aborted when the sender has disconnected, or has cancelled the chain of requests (section 3.7, item 4). */
  readonly signal: AbortSignal;
}

/** Losses and warnings of a message that was nevertheless received or sent. */
export interface Notice {
  /** The session of the message. */
  readonly session: Session;
  /** The direction of the message, as this side sees it. */
  readonly direction: 'received' | 'sent';
  /** Information that the message has lost, such as decimal places after the sixth. */
  readonly losses: readonly Loss[];
  /** Departures from the draft that did not prevent the transfer. */
  readonly warnings: readonly Diagnostic[];
}

/** Options of {@link createEndpoint}. */
export interface EndpointOptions {
  /** The codec of all sessions. */
  readonly codec: Codec;
  /** The agent that answers. */
  readonly agent: string;
  /**
   * Called with each accepted message, including answers and errors of the peer, except for those that maintain a session: `ping`, `pong`,
   * `ack`, and the `sync` operations `registry`, `state` and `resync`. Of a stream, it gets the chunk with index 0 and the end;
   * `context.session.stream(cid)` yields the chunks. If each frame waits for its answer, as over HTTP, read a stream without delaying that answer.
   *
   * Answers get the correlation of the message unless they name their own. An async iterable gives several answers, which are encoded one
   * after the other as they are made; `streamMessages` creates one. An exception becomes an error frame, but never in answer to `fail`
   * or the schema ER: two sides could continue forever. For the same reason, be careful with answers to messages such as `done`.
   */
  readonly handle: (
    message: Message,
    context: AnswerContext,
  ) => Answer | AsyncIterable<Answer> | Promise<Answer | AsyncIterable<Answer>>;
  /**
   * Returns `true` to run a request again that was in `handle` when the process ended. It is called for each pending request of a stored
   * session, when the first frame of the peer arrives. If it returns `false`, the request is rejected with E5001 and `reason: interrupted`. So
   * is, without a call, a request that was answered with a stream of which chunks were sent (section 10.4).
   *
   * @default () => false
   */
  readonly retryInterrupted?: ((message: Message, session: Session) => boolean) | undefined;
  /** Options of new sessions, such as `store`, `timeoutMs` and `now`. The endpoint sets `agent`, `id` and `sequence`. */
  readonly session?: Omit<SessionOptions, 'agent' | 'id' | 'sequence'> | undefined;
  /** The maximum number of open sessions; beyond it, the least recently used one is closed, unless it is busy. @default 1024 */
  readonly maxSessions?: number | undefined;
  /**
   * Milliseconds after which an unused session is closed, when the next one is opened; `Infinity` for never.
   *
   * @default 3600000
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Called with the exceptions of `handle`, and with the reason why an answer could not be sent: the peer gets a code only. */
  readonly onError?: ((thrown: unknown, message: Message, session: Session) => void) | undefined;
  /** Called with the losses and warnings of a message, if there are any. */
  readonly onNotice?: ((notice: Notice) => void) | undefined;
}

/** The side that answers: it serves any number of sessions on any number of bindings. */
export interface Endpoint {
  /** The codec of all sessions. */
  readonly codec: Codec;
  /**
   * Returns the session with an id, or opens a new one. Its `sequence` is `sender`: both sides may send at any time.
   *
   * @throws TypeError if the id is invalid, or after `close`
   * @throws StoreError if the store fails
   */
  readonly open: (sid?: string) => Session;
  /** Keeps a session open while it has a connection. @returns a function that ends this */
  readonly retain: (session: Session) => () => void;
  /**
   * Yields the frames that answer a frame of a session, in order, as they are made. Calls may be concurrent: as long as each frame is sent
   * before the next one is requested, the frames of all calls are sent in the order of their numbers.
   *
   * @param admit called before the handler; it may delay the message. A message that is cancelled meanwhile is not handled
   * @throws StoreError if the session's store fails; the session has to be opened again then
   */
  readonly receive: (
    frame: string,
    session: Session,
    signal: AbortSignal,
    admit?: () => Promise<void> | undefined,
  ) => AsyncIterable<string>;
  /**
   * Yields frames that this side sends on its own, in the session's order.
   *
   * @param make encodes the frames, and is called when no other frames of the session are being sent
   * @throws StoreError if the session's store fails
   */
  readonly send: (make: (codec: Codec) => readonly string[], session: Session) => AsyncIterable<string>;
  /**
   * Answers frames for bindings in which each frame is a request of its own. The frame names its session; one without a `sid` opens a new
   * session, whose id the answers have. Each frame of a message in several frames has to name the session, except for the first one, which
   * may open it; other parts without a `sid` are rejected with E1004. A text that is not a frame is rejected with E1001 and opens no session.
   *
   * A `sync:registry` of an agent other than the one that has announced itself in the session, or one older than frames that have arrived, is
   * rejected with E5001.
   *
   * A client that knows the id of a session can use it: authorize clients in front of the endpoint.
   */
  readonly handler: FrameHandler;
  /**
   * Disconnects a session for good, on every binding: its connection is closed, its work is cancelled with E5001, except for tools of MCP, and
   * frames with its id are rejected. The last 10,000 such sessions are remembered.
   *
   * @param reason the reason with which a WebSocket is closed; its first 123 bytes are sent
   * @returns `true` if the session existed
   */
  readonly disconnect: (sid: string, reason?: string) => boolean;
  /** Returns the reason why a session was disconnected; `undefined` if it was not. */
  readonly disconnectReason: (sid: string) => string | undefined;
  /** Calls a listener when a session is disconnected. @returns a function that removes the listener */
  readonly onDisconnect: (session: Session, listener: () => void) => () => void;
  /** Closes all sessions. */
  readonly close: () => void;
}
