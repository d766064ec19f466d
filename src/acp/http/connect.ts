import { assertDurations } from '../../async/durations.js';
import type { Channel } from '../../channels/channel.js';
import { ClientChannel } from './client-channel.js';
import { MAX_MESSAGE_BYTES } from './protocol.js';
import type { FetchLike } from './requests.js';

/** Options of {@link connectAcp}. */
export interface ConnectAcpOptions {
  /** The bearer token. Browsers send it to a WebSocket as a subprotocol, `bearer.TOKEN`, with `acp`. */
  readonly token?: string | undefined;
  /** Headers of all requests, such as `cookie`; browsers cannot set those of a WebSocket. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Closes the channel when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** The maximum size of a message. @default 33_554_432 */
  readonly maxMessageBytes?: number | undefined;
  /** If true, asks the server for streams that can be continued after the connection was lost. @default true */
  readonly resumable?: boolean | undefined;
  /** Delays and attempts to continue a stream. @default { minDelayMs: 100, maxDelayMs: 5000, maxAttempts: 10 } */
  readonly reconnect?:
    | { readonly minDelayMs?: number; readonly maxDelayMs?: number; readonly maxAttempts?: number }
    | undefined;
  /**
   * Milliseconds without a sign of life after which the connection to the server is lost; `Infinity` is never. In browsers, which cannot send
   * pings, it applies to streams over HTTP only.
   *
   * @default 45_000 where this side can send pings, and three times the interval that the server announces for its streams
   */
  readonly silenceMs?: number | undefined;
  /** The choice of browsers that send cookies to servers of other origins. @default 'include' */
  readonly credentials?: 'include' | 'same-origin' | 'omit' | undefined;
  /** The function that sends requests. @default `fetch`, or in Node one that uses HTTP/2 if the server accepts it */
  readonly fetch?: FetchLike | undefined;
}

/** The parts of the platform that {@link connectWith} uses. */
export interface ConnectPlatform {
  readonly fetch: FetchLike;
  /** Closes the connections of `fetch`. */
  readonly release: () => void;
  readonly webSocket: (url: string, options: ConnectAcpOptions, maxLength: number) => Channel;
}

/** Connects with the parts of a platform. @throws TypeError if an option is invalid */
export function connectWith(url: string, options: ConnectAcpOptions, platform: ConnectPlatform): Channel {
  const scheme = URL.canParse(url) ? new URL(url).protocol : '';
  const { token, maxMessageBytes = MAX_MESSAGE_BYTES, signal, resumable = true, credentials = 'include' } = options;
  const { silenceMs } = options;
  const { minDelayMs = 100, maxDelayMs = 5000, maxAttempts = 10 } = options.reconnect ?? {};
  if (!(maxMessageBytes >= 1)) throw new TypeError(`maxMessageBytes must be a number >= 1; got ${maxMessageBytes}`);
  if (silenceMs !== undefined) assertDurations({ silenceMs });
  signal?.throwIfAborted();
  let channel: Channel;
  if (scheme === 'ws:' || scheme === 'wss:')
    channel = ignoringBinary(platform.webSocket(url, options, maxMessageBytes));
  else if (scheme === 'http:' || scheme === 'https:') {
    channel = new ClientChannel({
      ...{ url, maxMessageBytes, resumable, silenceMs, credentials },
      fetch: options.fetch ?? platform.fetch,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...options.headers },
      reconnect: { minDelayMs, maxDelayMs, maxAttempts },
      release: platform.release,
    });
  } else throw new TypeError(`"${url}" must be a URL with the scheme http, https, ws or wss`);
  if (signal === undefined) return channel;
  const { start, destroy } = channel;
  signal.addEventListener('abort', destroy, { once: true });
  return {
    ...channel,
    start: (receiver) => {
      const ended = (error?: Error): void => {
        signal.removeEventListener('abort', destroy);
        receiver.ended(error);
      };
      start({ ...receiver, ended });
    },
  };
}

/** Binary frames are ignored (RFD, "Bidirectional Messaging"). */
function ignoringBinary(channel: Channel): Channel {
  return { ...channel, start: (receiver) => channel.start({ ...receiver, invalid: () => undefined }) };
}
