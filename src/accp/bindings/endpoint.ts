/** One side that answers frames, whatever carries them: a codec, its sessions, and what is done with messages. */
import type { Codec } from '../codec/codec.js';
import type { Message, MessageInput } from '../message/message.js';
import type { Session, SessionOptions } from '../session/session.js';
import type { FrameHandler } from './frames.js';

/** What a message is answered with; a string is a message of the chat profile, `null` is no answer. */
export type Answer = MessageInput | string | null | undefined;

export interface AnswerContext {
  readonly session: Session;
  /** Aborted when the sender has gone, or has cancelled the chain of requests (section 3.7, item 4). */
  readonly signal: AbortSignal;
}

export interface EndpointOptions {
  readonly codec: Codec;
  /** Who answers. */
  readonly agent: string;
  /**
   * Told each message that was accepted. Answers get the correlation of the message unless they name their own. What it throws
   * becomes an error frame.
   */
  readonly handle: (
    message: Message,
    context: AnswerContext,
  ) => Answer | AsyncIterable<Answer> | Promise<Answer | AsyncIterable<Answer>>;
  /** Options of new sessions: a store, a time-out. `agent`, `id` and `sequence` are the endpoint's. */
  readonly session?: Omit<SessionOptions, 'agent' | 'id' | 'sequence'> | undefined;
  /** Sessions that are held; the one that was used least recently is closed. @default 1024 */
  readonly maxSessions?: number | undefined;
  /** Seconds after which a session that nobody uses is closed; 0 for never. @default 3600 */
  readonly idleTime?: number | undefined;
}

export interface Endpoint {
  readonly codec: Codec;
  /** The session of that id; a new one where there is none. `sequence` is `sender`: both sides may speak at any time. */
  readonly open: (sid?: string) => Session;
  /** What is sent back for a frame of a session, in order, as it comes. */
  readonly receive: (frame: string, session: Session, signal: AbortSignal) => AsyncIterable<string>;
  /** For bindings in which each frame is a request of its own: the session is the one that the frame names. */
  readonly handler: FrameHandler;
  /** Closes all sessions. */
  readonly close: () => void;
}
