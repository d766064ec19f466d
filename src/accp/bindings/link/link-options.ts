/** What a connection is told, and what it gives. */
import type { Codec } from '../../codec/codec.js';
import type { EncodeResult } from '../../codec/contract.js';
import type { Message, MessageInput } from '../../message/message.js';
import type { Session } from '../../session/session.js';
import type { StreamChunk } from '../../streams/streams.js';
import type { Notice } from '../endpoint-options.js';
import type { LinkError } from './errors.js';

export type LinkState = 'open' | 'reconnecting' | 'closed';

/** How a lost connection is made anew: after a time that doubles from `min` to `max`, less a random part of up to a half. */
export interface ReconnectOptions {
  /** Seconds. @default 0.25 */
  readonly min?: number | undefined;
  /** Seconds. @default 15 */
  readonly max?: number | undefined;
  /** Attempts before it is given up, since a connection has stood for `max` seconds. @default Infinity */
  readonly attempts?: number | undefined;
}

export interface LinkOptions {
  readonly codec: Codec;
  /** It has to count by `sender`, and stays yours: closing the connection does not close it. */
  readonly session: Session;
  /** Seconds for the other side to answer the first frame. @default 10 */
  readonly handshakeTimeout?: number | undefined;
  /** `false`: a connection that is lost is not made anew. */
  readonly reconnect?: ReconnectOptions | false | undefined;
  /** Told each change, with what has caused it. */
  readonly onState?: ((state: LinkState, cause?: Error) => void) | undefined;
  /**
   * Told what went wrong and ended nothing: an `AccpError` for a frame that was refused here, other than for its number, and
   * `LinkError`s: `lost`, `unread`, and `unreachable` for each attempt that came to nothing.
   */
  readonly onError?: ((error: Error) => void) | undefined;
  /** Told of losses and warnings, where a message has any. */
  readonly noticed?: ((notice: Notice) => void) | undefined;
}

export interface RequestOptions {
  /** Aborting it gives the request up, and tells the other side by `cancel`. */
  readonly signal?: AbortSignal | undefined;
}

export interface Link {
  readonly session: Session;
  readonly state: LinkState;
  /**
   * Sends a message. It waits while the connection is slow, or being made anew; messages go out in the order in which they were given.
   *
   * @throws AccpError for a message that cannot be said
   * @throws LinkError when the connection has ended
   */
  readonly send: (message: MessageInput | string) => Promise<EncodeResult>;
  /**
   * Sends a message and gives the one that ends its chain: `done` or `end`. It outlives a connection that is lost.
   *
   * @throws AccpError with the code of the `fail` frame; E3001 when none comes within the session's time
   * @throws LinkError when the connection has ended
   * @throws TypeError where the message names a `correlation_id` under which another one waits
   */
  readonly request: (message: MessageInput | string, options?: RequestOptions) => Promise<Message>;
  /**
   * Sends a message and gives the chunks of the stream that answers it, in their order. When its reader is slow, it holds up the
   * connection after a while; when the loop is left, also before the next chunk has come, the other side is told by `cancel`.
   *
   * @throws AccpError with the code of the `fail` frame
   * @throws LinkError when the connection has ended
   */
  readonly stream: (message: MessageInput | string, options?: RequestOptions) => AsyncIterable<StreamChunk>;
  /**
   * Messages that answer no `request`, in order, for one reader. When it is slow, it holds up the connection after a while. Where
   * there is none, the last 256 are kept.
   */
  readonly messages: AsyncIterable<Message>;
  /** Resolves when it has ended for good: with the reason, or with nothing when it was closed here. */
  readonly closed: Promise<LinkError | undefined>;
  /** Closes it. Requests that wait reject; the session stays open. */
  readonly close: () => Promise<void>;
}
