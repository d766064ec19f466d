/** What an endpoint is told, and what it gives. */
import type { Diagnostic } from '../../text/diagnostic.js';
import type { Codec } from '../codec/codec.js';
import type { Loss, Message, MessageInput } from '../message/message.js';
import type { Session, SessionOptions } from '../session/session.js';
import type { FrameHandler } from './frames.js';

/** What a message is answered with; a string is a message of the chat profile, `null` is no answer. */
export type Answer = MessageInput | string | null | undefined;

export interface AnswerContext {
  readonly session: Session;
  /** Aborted when the sender has gone, or has cancelled the chain of requests (section 3.7, item 4). */
  readonly signal: AbortSignal;
}

/** What a program may want to know of a message that went through all the same. */
export interface Notice {
  readonly session: Session;
  readonly direction: 'received' | 'sent';
  readonly losses: readonly Loss[];
  readonly warnings: readonly Diagnostic[];
}

export interface EndpointOptions {
  readonly codec: Codec;
  /** Who answers. */
  readonly agent: string;
  /**
   * Told each message that was accepted, answers and errors of the other side included, but for what keeps a session going: `ping`,
   * `pong`, `ack`, and the `sync` operations `registry`, `state` and `resync`. Of a stream it is told the chunk with index 0, and
   * its end; `context.session.stream(cid)` gives the chunks. Where each frame waits for its answer, as over HTTP, a stream has
   * to be read without keeping that answer waiting.
   *
   * Answers get the correlation of the message unless they name their own. An async iterable gives several, which are encoded one after
   * the other as they come; `streamMessages` makes one. What is thrown becomes an error frame, but never in answer to `fail`
   * or the schema ER: two sides could go on for ever. For the same reason, an answer to what asks for none, such as `done`, should be
   * given with care.
   */
  readonly handle: (
    message: Message,
    context: AnswerContext,
  ) => Answer | AsyncIterable<Answer> | Promise<Answer | AsyncIterable<Answer>>;
  /**
   * Whether a request that was in `handle` when the process ended runs again. It is called for each pending request of a session that a store
   * has kept, when the first frame of the other side arrives. Requests for which it returns `false` are refused with E5001 and
   * `reason: interrupted`: they may have run. So are those whose answer is a stream of which chunks were sent (section 10.4): it is not
   * called for them.
   *
   * @default () => false
   */
  readonly runAgain?: ((message: Message, session: Session) => boolean) | undefined;
  /** Options of new sessions: a store, a time-out, a clock. `agent`, `id` and `sequence` are the endpoint's. */
  readonly session?: Omit<SessionOptions, 'agent' | 'id' | 'sequence'> | undefined;
  /**
   * Sessions that are held; the one that was used least recently is closed. Those that are at work stay, even if they are more.
   * @default 1024
   */
  readonly maxSessions?: number | undefined;
  /** Seconds after which a session that nobody uses is closed, when the next one is opened; 0 for never. @default 3600 */
  readonly idleTime?: number | undefined;
  /** Told what `handle` threw, or what of its answers could not be sent: the other side learns no more than a code. */
  readonly failed?: ((thrown: unknown, message: Message, session: Session) => void) | undefined;
  /** Told of losses and warnings, where a message has any. */
  readonly noticed?: ((notice: Notice) => void) | undefined;
}

export interface Endpoint {
  readonly codec: Codec;
  /**
   * The session of that id; a new one where there is none. `sequence` is `sender`: both sides may speak at any time.
   *
   * @throws TypeError on an id that is none, and after `close`
   * @throws StoreError when the store fails
   */
  readonly open: (sid?: string) => Session;
  /**
   * Keeps a session from being closed for want of use, while a connection stands.
   *
   * @returns ends that
   */
  readonly hold: (session: Session) => () => void;
  /**
   * What is sent back for a frame of a session, in order, as it comes. Any number of them may be under way in a session: as long as
   * each frame is sent before the next one is asked for, the frames of all of them go out in the order of their numbers.
   *
   * @param admit asked before the handler is told of a message; it may keep it waiting. What is cancelled meanwhile is not told
   * @throws StoreError when the session's store fails; the session has to be opened anew then
   */
  readonly receive: (
    frame: string,
    session: Session,
    signal: AbortSignal,
    admit?: () => Promise<void> | undefined,
  ) => AsyncIterable<string>;
  /**
   * What this side says by itself, in the session's order: `make` is called when it is its turn.
   *
   * @throws StoreError when the session's store fails
   */
  readonly say: (make: (codec: Codec) => readonly string[], session: Session) => AsyncIterable<string>;
  /**
   * For bindings in which each frame is a request of its own: the session is the one that the frame names, a new one where it names
   * none, whose id stands in the answers. Of a message in several frames, only the first has to name it, unless another session has one of the
   * same sender and chain; parts that belong nowhere are answered with E1004. A text that is no frame is answered with E1001, and opens no
   * session.
   *
   * A `sync:registry` of another agent than the one that has announced itself in the session, and one that is older than frames that have
   * come, is refused with E5001.
   *
   * Who knows the id of a session can speak in it: checking who may do so belongs in front of the endpoint.
   */
  readonly handler: FrameHandler;
  /**
   * Puts a session out for good, on every binding: its connection is closed, what is under way in it is cancelled with E5001, but for tools
   * of MCP, and whoever comes with its id again is refused. The last 10,000 such sessions are remembered.
   *
   * @param reason for the closing of a WebSocket, of which the first 123 bytes are sent
   * @returns whether the session was there
   */
  readonly disconnect: (sid: string, reason?: string) => boolean;
  /** Why a session was put out; `undefined` where it was not. */
  readonly disconnected: (sid: string) => string | undefined;
  /** Tells when a session is put out. @returns takes the listener away */
  readonly onDisconnect: (session: Session, listener: () => void) => () => void;
  /** Closes all sessions. */
  readonly close: () => void;
}
