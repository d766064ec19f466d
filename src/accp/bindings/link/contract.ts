import type { ReconnectOptions } from '../../../async/reconnect.js';
import { PegwireError } from '../../../text/errors.js';
import type { Codec } from '../../codec/codec.js';
import type { EncodeResult } from '../../codec/contract.js';
import type { Message, MessageInput } from '../../message/message.js';
import type { Session } from '../../session/session.js';
import type { StreamChunk } from '../../streams/streams.js';
import type { Notice } from '../endpoint-options.js';

export type LinkState = 'open' | 'reconnecting' | 'closed';

export type { ReconnectOptions };

export interface LinkOptions {
  readonly codec: Codec;
  /** It has to count by `sender`. Closing the connection does not close it. */
  readonly session: Session;
  /** Milliseconds for the other side to answer the first frame; `Infinity` for no limit. @default 10000 */
  readonly handshakeTimeoutMs?: number | undefined;
  /** `false`: a lost connection is not made anew. */
  readonly reconnect?: ReconnectOptions | false | undefined;
  /** Called with each change, and its cause. */
  readonly onState?: ((state: LinkState, cause?: Error) => void) | undefined;
  /**
   * Called with errors that end nothing: an `AccpError` for a frame that was refused here, other than for its number, and `LinkError`s:
   * `lost`, `unread`, and `unreachable` for each failed attempt.
   */
  readonly onError?: ((error: Error) => void) | undefined;
  /** Called with losses and warnings, if a message has any. */
  readonly onNotice?: ((notice: Notice) => void) | undefined;
}

export interface RequestOptions {
  /** Aborting it gives the request up, and sends `cancel`. */
  readonly signal?: AbortSignal | undefined;
}

export interface Link {
  readonly session: Session;
  readonly state: LinkState;
  /**
   * Sends a message. It waits while the connection is slow, or being made anew; messages go out in the order of the calls.
   *
   * @throws AccpError if the message cannot be sent
   * @throws LinkError when the connection has ended
   */
  readonly send: (message: MessageInput | string) => Promise<EncodeResult>;
  /**
   * Sends a message and returns the one that ends its chain: `done` or `end`. It outlives a lost connection.
   *
   * @throws AccpError with the code of the `fail` frame; E3001 when none comes within the session's time
   * @throws LinkError when the connection has ended
   * @throws TypeError if another request waits under the same `correlation_id`
   */
  readonly request: (message: MessageInput | string, options?: RequestOptions) => Promise<Message>;
  /**
   * Sends a message and yields the chunks of the stream that answers it, in order. A slow reader holds up the connection after a while;
   * leaving the loop, also before the next chunk has come, sends `cancel`.
   *
   * @throws AccpError with the code of the `fail` frame
   * @throws LinkError when the connection has ended
   */
  readonly stream: (message: MessageInput | string, options?: RequestOptions) => AsyncIterable<StreamChunk>;
  /**
   * Messages that answer no `request`, in order, for one reader. A slow reader holds up the connection after a while. Without a reader, the
   * last 256 are kept.
   */
  readonly messages: AsyncIterable<Message>;
  /** Resolves when it has ended for good: with the reason, or with nothing when it was closed here. */
  readonly closed: Promise<LinkError | undefined>;
  /** Closes it. Pending requests reject; the session stays open. */
  readonly close: () => Promise<void>;
}

/** Codes with which connections are closed (RFC 6455, section 7.4; those from 4000 are the bindings' own). */
export const CLOSE = {
  normal: 1000,
  /** The other side does not answer any more, or a server ends. */
  goingAway: 1001,
  binary: 1003,
  notUtf8: 1007,
  /** The first frame was not `sync:registry`. */
  noRegistry: 1008,
  tooBig: 1009,
  failed: 1011,
  /** Another connection of the session has taken its place. */
  replaced: 4001,
} as const;

/**
 * - `unreachable`: no connection came about
 * - `refused`: the other side does not accept the link, so that it is not tried again; over WebSocket, `closeCode` says why
 * - `replaced`: the session goes on over another connection
 * - `session-lost`: the other side has forgotten the session
 * - `store-failed`: the session's store failed
 * - `closed`: it was closed here
 * - `lost`: messages were lost with a connection, and were no longer kept to be sent again
 * - `unread`: a message was dropped, since nobody reads them
 */
export type LinkErrorCode =
  | 'unreachable'
  | 'refused'
  | 'replaced'
  | 'session-lost'
  | 'store-failed'
  | 'closed'
  | 'lost'
  | 'unread';

/** A connection that cannot go on. */
export class LinkError extends PegwireError {
  override readonly name: string = 'LinkError';
  declare readonly code: LinkErrorCode;
  /** The code with which the socket was closed, if it was. */
  readonly closeCode: number | undefined;

  constructor(code: LinkErrorCode, message: string, details: { closeCode?: number | undefined; cause?: unknown } = {}) {
    super({ code, message }, details);
    this.closeCode = details.closeCode;
  }
}

export interface Carrier {
  readonly opened: Promise<void>;
  /** Whether each frame is an exchange: the other side sends only answers, and works on until it is cancelled. */
  readonly isExchange?: boolean | undefined;
  /** Whether reading is stopped, so that silence means nothing. */
  readonly isStopped: boolean;
  /** Sends a frame, in order; nothing after the end. */
  readonly send: (frame: string) => void;
  /** Resolves when it can take more; `undefined` when it can now. */
  readonly ready: () => Promise<void> | undefined;
  /** Stops giving frames, as soon as possible. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Closes when everything is sent. @param code one of `CLOSE` */
  readonly close: (code: number, reason: string) => void;
  readonly terminate: (code?: number, reason?: string) => void;
}

export interface CarrierReceiver {
  readonly frame: (frame: string) => void;
  /** A frame has arrived while the carrier is paused; `frame` follows when it resumes. */
  readonly held: (frame: string) => void;
  /** Nothing is read until the carrier resumes. */
  readonly stopped: () => void;
  /** The exchange of the first frame is over. @param isAnswered whether any frame came */
  readonly taken: (isAnswered: boolean) => void;
  /** The carrier has ended, on either side; called once. */
  readonly closed: (error: LinkError) => void;
}
