import type { Diagnostic } from '../../text/diagnostic.js';
import type { Codec } from '../codec/codec.js';
import type { Loss, Message, MessageInput } from '../message/message.js';
import type { Session, SessionOptions } from '../session/session.js';
import type { FrameHandler } from './frames.js';

/** An answer to a message; a string is a message of the chat profile, `null` is no answer. */
export type Answer = MessageInput | string | null | undefined;

export interface AnswerContext {
  readonly session: Session;
  /** Aborted when the sender has gone, or has cancelled the chain of requests (section 3.7, item 4). */
  readonly signal: AbortSignal;
}

/** Losses and warnings of a message that was received or sent all the same. */
export interface Notice {
  readonly session: Session;
  readonly direction: 'received' | 'sent';
  readonly losses: readonly Loss[];
  readonly warnings: readonly Diagnostic[];
}

export interface EndpointOptions {
  readonly codec: Codec;
  /** The agent that answers. */
  readonly agent: string;
  /**
   * Called with each accepted message, answers and errors of the other side included, except those that keep a session going: `ping`, `pong`,
   * `ack`, and the `sync` operations `registry`, `state` and `resync`. Of a stream it gets the chunk with index 0, and its end;
   * `context.session.stream(cid)` gives the chunks. If each frame waits for its answer, as over HTTP, read a stream without delaying that answer.
   *
   * Answers get the correlation of the message unless they name their own. An async iterable gives several, which are encoded one after
   * the other as they come; `streamMessages` makes one. What is thrown becomes an error frame, but never in answer to `fail`
   * or the schema ER: two sides could go on for ever. For the same reason, be careful with answers to messages such as `done`.
   */
  readonly handle: (
    message: Message,
    context: AnswerContext,
  ) => Answer | AsyncIterable<Answer> | Promise<Answer | AsyncIterable<Answer>>;
  /**
   * Whether a request that was in `handle` when the process ended runs again. It is called for each pending request of a stored session, when
   * the first frame of the other side arrives. If it returns `false`, the request is refused with E5001 and `reason: interrupted`. So is,
   * without a call, a request whose answer is a stream of which chunks were sent (section 10.4).
   *
   * @default () => false
   */
  readonly runAgain?: ((message: Message, session: Session) => boolean) | undefined;
  /** Options of new sessions: a store, a time-out, a clock. `agent`, `id` and `sequence` are the endpoint's. */
  readonly session?: Omit<SessionOptions, 'agent' | 'id' | 'sequence'> | undefined;
  /** Sessions that are kept; the least recently used one is closed. Busy sessions stay, even if they are more. @default 1024 */
  readonly maxSessions?: number | undefined;
  /** Milliseconds after which an unused session is closed, when the next one is opened; `Infinity` for never. @default 3600000 */
  readonly idleTimeoutMs?: number | undefined;
  /** Called with what `handle` throws, or why an answer could not be sent: the other side gets a code only. */
  readonly onError?: ((thrown: unknown, message: Message, session: Session) => void) | undefined;
  /** Called with losses and warnings, if a message has any. */
  readonly onNotice?: ((notice: Notice) => void) | undefined;
}

export interface Endpoint {
  readonly codec: Codec;
  /**
   * Returns the session with that id, or a new one. `sequence` is `sender`: both sides may speak at any time.
   *
   * @throws TypeError if the id is invalid, and after `close`
   * @throws StoreError when the store fails
   */
  readonly open: (sid?: string) => Session;
  /** Keeps a session open while a connection stands. @returns ends that */
  readonly retain: (session: Session) => () => void;
  /**
   * Yields the frames that answer a frame of a session, in order, as they come. Any number of calls may be under way in a session: as long as
   * each frame is sent before the next one is asked for, the frames of all of them go out in the order of their numbers.
   *
   * @param admit called before the handler; it may delay the message. A message that is cancelled meanwhile is not handled
   * @throws StoreError when the session's store fails; the session has to be opened anew then
   */
  readonly receive: (
    frame: string,
    session: Session,
    signal: AbortSignal,
    admit?: () => Promise<void> | undefined,
  ) => AsyncIterable<string>;
  /**
   * Yields frames that this side sends by itself, in the session's order: `make` is called when it is its turn.
   *
   * @throws StoreError when the session's store fails
   */
  readonly send: (make: (codec: Codec) => readonly string[], session: Session) => AsyncIterable<string>;
  /**
   * Answers frames for bindings in which each frame is a request of its own. The frame names its session; one without a `sid` opens a new
   * session, whose id stands in the answers. Of a message in several frames, only the first has to name it, unless another session has one of
   * the same sender and chain; parts that belong nowhere are answered with E1004. A text that is not a frame is answered with E1001,
   * and opens no session.
   *
   * A `sync:registry` of another agent than the one that has announced itself in the session, or older than frames that have come, is
   * refused with E5001.
   *
   * A client that knows the id of a session can speak in it: check who may do so in front of the endpoint.
   */
  readonly handler: FrameHandler;
  /**
   * Disconnects a session for good, on every binding: its connection is closed, what is under way in it is cancelled with E5001, but for tools
   * of MCP, and frames with its id are refused. The last 10,000 such sessions are remembered.
   *
   * @param reason for the closing of a WebSocket, of which the first 123 bytes are sent
   * @returns whether the session was there
   */
  readonly disconnect: (sid: string, reason?: string) => boolean;
  /** Returns why a session was disconnected; `undefined` if it was not. */
  readonly disconnectReason: (sid: string) => string | undefined;
  /** Calls the listener when a session is disconnected. @returns removes the listener */
  readonly onDisconnect: (session: Session, listener: () => void) => () => void;
  readonly close: () => void;
}
