import type { ReconnectOptions } from '../../../async/reconnect.js';
import { PegwireError } from '../../../text/errors.js';
import type { Codec } from '../../codec/codec.js';
import type { EncodeResult } from '../../codec/contract.js';
import type { Message, MessageInput } from '../../message/message.js';
import type { Session } from '../../session/session.js';
import type { StreamChunk } from '../../streams/streams.js';
import type { Notice } from '../endpoint-options.js';

export type { ReconnectOptions };

/**
 * The state of a link.
 *
 * - `open`: messages are sent at once
 * - `reconnecting`: the connection was lost, and messages wait for the next one
 * - `closed`: the link has ended for good
 */
export type LinkState = 'open' | 'reconnecting' | 'closed';

/** Options of a link, whatever carries it. */
export interface LinkOptions {
  /** The codec that encodes and decodes the frames of the link. */
  readonly codec: Codec;
  /** The session, which must number frames by sender (`sequence: 'sender'`). Closing the link leaves it open. */
  readonly session: Session;
  /** Milliseconds for the peer to answer the first frame; `Infinity` for no limit. @default 10000 */
  readonly handshakeTimeoutMs?: number | undefined;
  /**
   * Delays and limits of reconnection; `false` disables it.
   *
   * @default { minDelayMs: 250, maxDelayMs: 15000, maxAttempts: Infinity } over WebSocket; 8 attempts over HTTP and A2A
   */
  readonly reconnect?: ReconnectOptions | false | undefined;
  /** Called with each new state and its cause. */
  readonly onState?: ((state: LinkState, cause?: Error) => void) | undefined;
  /**
   * Called with errors that do not end the link: an `AccpError` for each frame that this side rejects, except for its sequence number, and a
   * `LinkError` with the code `lost`, `unread`, or, for each failed attempt to reconnect, `unreachable`.
   */
  readonly onError?: ((error: Error) => void) | undefined;
  /** Called with the losses and warnings of a message, if there are any. */
  readonly onNotice?: ((notice: Notice) => void) | undefined;
}

/** Options of one request. */
export interface RequestOptions {
  /** Aborting it abandons the request and sends `cancel`. */
  readonly signal?: AbortSignal | undefined;
}

/** A session that is connected to a peer. The link survives the loss of its connection: it reconnects and sends lost frames again. */
export interface Link {
  /** The session of the link. */
  readonly session: Session;
  /** The state of the connection; `onState` reports changes. */
  readonly state: LinkState;
  /**
   * Sends a message. It waits while the connection is slow or being reestablished; messages are sent in the order of the calls.
   *
   * @throws AccpError if the message cannot be sent
   * @throws LinkError if the link has ended
   */
  readonly send: (message: MessageInput | string) => Promise<EncodeResult>;
  /**
   * Sends a message and returns the message that ends its chain: `done` or `end`. The request survives a lost connection.
   *
   * @throws AccpError with the code of the `fail` frame; E3001 if none arrives within the session's `timeoutMs`
   * @throws LinkError if the link has ended
   * @throws TypeError if another request with the same `correlation_id` is pending
   */
  readonly request: (message: MessageInput | string, options?: RequestOptions) => Promise<Message>;
  /**
   * Sends a message and yields the chunks of the stream that answers it, in order. Unread chunks pause the connection. Leaving the loop, even
   * before the next chunk has arrived, sends `cancel`.
   *
   * @throws AccpError with the code of the `fail` frame
   * @throws LinkError if the link has ended
   */
  readonly stream: (message: MessageInput | string, options?: RequestOptions) => AsyncIterable<StreamChunk>;
  /**
   * Messages that do not answer a `request`, in order, for one reader. Unread messages pause the connection. Without a reader, the last 256
   * are kept.
   */
  readonly messages: AsyncIterable<Message>;
  /** Resolves when the link has ended: with the reason, or with `undefined` after `close`. */
  readonly closed: Promise<LinkError | undefined>;
  /** Closes the link. Pending requests reject; the session stays open. */
  readonly close: () => Promise<void>;
}

/** Codes with which WebSockets are closed (RFC 6455, section 7.4; codes >= 4000 are specific to this binding). */
export const CLOSE = {
  /** The client has finished. */
  normal: 1000,
  /** The server shuts down, or the peer no longer answers. */
  goingAway: 1001,
  /** A message was binary. */
  binary: 1003,
  /** A message was not UTF-8. */
  notUtf8: 1007,
  /** The first frame was not an acceptable `sync:registry`. */
  noRegistry: 1008,
  /** A frame exceeded the limit. */
  tooBig: 1009,
  /** The session's store failed, or the session could not be opened. */
  failed: 1011,
  /** Another connection of the session has replaced this one. */
  replaced: 4001,
} as const;

/**
 * The code of a `LinkError`.
 *
 * - `unreachable`: no connection could be established
 * - `refused`: the peer does not accept the link, so the link does not try again; over WebSocket, `closeCode` gives the reason
 * - `replaced`: the session continues over another connection
 * - `session-lost`: the peer has lost the state of the session
 * - `store-failed`: the session's store failed
 * - `closed`: this side closed the link
 * - `lost`: messages were lost with a connection and can no longer be sent again
 * - `unread`: a message was dropped because `messages` has no reader
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

/** A link that could not be opened or has ended, or, in `onError`, a message that the link lost. */
export class LinkError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'LinkError';
  /** A code that stays the same between versions. */
  declare readonly code: LinkErrorCode;
  /** The close code of the WebSocket, if there is one. */
  readonly closeCode: number | undefined;

  /**
   * Creates an error.
   *
   * @param code the stable reason
   * @param message the reason for people
   * @param details the close code of the WebSocket and the underlying error
   */
  constructor(code: LinkErrorCode, message: string, details: { closeCode?: number | undefined; cause?: unknown } = {}) {
    super({ code, message }, details);
    this.closeCode = details.closeCode;
  }
}

/** One connection of a link, which carries frames as text. */
export interface FrameTransport {
  readonly opened: Promise<void>;
  /** If true, each frame is an exchange of its own: the peer sends answers only, and continues its work until it is cancelled. */
  readonly isExchange?: boolean | undefined;
  /** `true` while nothing is read, so silence does not mean that the peer is gone. */
  readonly isReadingStopped: boolean;
  /** Sends a frame, in order. Does nothing after the end. */
  readonly send: (frame: string) => void;
  /** Resolves when it can take more; `undefined` if it can now. */
  readonly ready: () => Promise<void> | undefined;
  /** Stops calling `frame`, as soon as possible. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Closes when everything is sent. @param code one of `CLOSE` */
  readonly close: (code: number, reason: string) => void;
  readonly terminate: (code?: number, reason?: string) => void;
}

/** The listener of a transport. */
export interface FrameTransportListener {
  readonly frame: (frame: string) => void;
  /** A frame has arrived while the transport is paused; `frame` follows when it resumes. */
  readonly buffered: (frame: string) => void;
  /** Nothing is read until the transport resumes. */
  readonly readingStopped: () => void;
  /** The exchange of the first frame is over. @param isAnswered `true` if any frame arrived */
  readonly firstExchangeEnded: (isAnswered: boolean) => void;
  /** The transport has ended, on either side; called once. */
  readonly closed: (error: LinkError) => void;
}
