// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
import { assertDurations } from '../../../async/durations.js';
import { notifyListener } from '../../../async/listeners.js';
import { REQUEST_TIMEOUT_MS, type TlsIdentity } from '../../../channels/node/http-server.js';
import { ACP_PATH, MAX_MESSAGE_BYTES } from '../protocol.js';

/** A client that connects. */
export interface IncomingConnection {
  /** The identifier of the connection, as in `Acp-Connection-Id`. */
  readonly id: string;
  /** The transport that the client chose. */
  readonly transport: 'http' | 'websocket';
}

/** Options of {@link listenAcp}. */
export interface ListenAcpOptions {
  /** The port; 0 for any free port. @default 0 */
  readonly port?: number | undefined;
  /** A name or an address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** The path of the endpoint. @default '/acp' */
  readonly path?: string | undefined;
  /** Requires this bearer token (RFC 6750). Without it, every client that reaches the port can use the agent. */
  readonly token?: string | undefined;
  /** If true, other machines can reach the server without a token, or without TLS, which a proxy may add. @default false */
  readonly insecure?: boolean | undefined;
  /** Origins of web pages that can use the server, besides its own: `https://example.org`. @default [] */
  readonly origins?: readonly string[] | undefined;
  /** The certificate and its key. @default none: without TLS */
  readonly tls?: TlsIdentity | undefined;
  /**
   * If true, messages and streams are also accepted over HTTP/1.1; the text of the transport requires HTTP/2. WebSockets are always accepted.
   *
   * @default true on a loopback address, otherwise false
   */
  readonly allowHttp1?: boolean | undefined;
  /** If true, a POST request can contain a batch; the text of the transport refuses it with 501. @default false */
  readonly allowBatches?: boolean | undefined;
  /** If true, clients that ask for it can continue streams after their connection was lost. @default true */
  readonly resumable?: boolean | undefined;
  /** The maximum length of the events of a stream that are kept for a client that continues it. @default 4_194_304 */
  readonly maxReplayLength?: number | undefined;
  /** Sets a cookie on the response of `initialize`, such as `backend=3; Path=/acp`, with which a load balancer chooses the backend. */
  readonly affinityCookie?: string | undefined;
  /** The maximum number of concurrent connections; others are refused with 503. @default 1024 */
  readonly maxConnections?: number | undefined;
  /** The maximum number of sessions of a connection for which a client can open a stream. @default 1024 */
  readonly maxSessions?: number | undefined;
  /** The maximum size of a message, in bytes. @default 33_554_432 */
  readonly maxMessageBytes?: number | undefined;
  /** Milliseconds for the body of a request. @default 60_000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds for the agent to answer `initialize`. @default 60_000 */
  readonly initializeTimeoutMs?: number | undefined;
  /** Milliseconds without a stream or a message after which a connection ends. @default 60_000 */
  readonly idleTimeoutMs?: number | undefined;
  /** Milliseconds for which a client may read nothing while the agent waits to send; then its connection ends. @default 60_000 */
  readonly stallTimeoutMs?: number | undefined;
  /** Milliseconds between two signs of life on a stream or WebSocket. @default 15_000 */
  readonly keepAliveMs?: number | undefined;
  /** Milliseconds for clients to read what was sent, after `close`; 0 for none, `Infinity` for no limit. @default 5000 */
  readonly closeGraceMs?: number | undefined;
  /** Called with the errors of connections, and those that `onConnection` throws. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Options with their defaults. */
export type AcpSettings = ReturnType<typeof resolveOptions> & { readonly allowHttp1: boolean };

/** Checks the options and sets defaults. @throws TypeError if an option is invalid */
export function resolveOptions(options: ListenAcpOptions) {
  const { port = 0, host = '127.0.0.1', path = ACP_PATH, token, insecure = false, origins = [], tls } = options;
  const { allowBatches = false, resumable = true, affinityCookie, onError } = options;
  const { maxConnections = 1024, maxSessions = 1024, maxMessageBytes = MAX_MESSAGE_BYTES } = options;
  const { maxReplayLength = 4 * 1024 * 1024 } = options;
  const { initializeTimeoutMs = 60_000, idleTimeoutMs = 60_000, stallTimeoutMs = 60_000 } = options;
  const { keepAliveMs = 15_000, closeGraceMs = 5000, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  if (!/^\/[!-~]*$/.test(path) || /[?#]/.test(path))
    throw new TypeError(`path must begin with "/" and be written as in a URL; got "${path}"`);
  if (!Array.isArray(origins)) throw new TypeError('origins must be an array');
  for (const [name, value] of Object.entries({ maxConnections, maxSessions, maxMessageBytes, maxReplayLength }))
    if (!(value >= 1)) throw new TypeError(`${name} must be a number >= 1; got ${value}`);
  assertDurations({ initializeTimeoutMs, idleTimeoutMs, stallTimeoutMs, keepAliveMs, requestTimeoutMs });
  assertDurations({ closeGraceMs }, 0);
  if (affinityCookie !== undefined && !/^[^\s=;,]+=[^\r\n]*$/.test(affinityCookie))
    throw new TypeError(`affinityCookie must have the form of Set-Cookie, such as "backend=3; Path=/acp"`);
  return {
    ...{ port, host, path, token, insecure, origins, tls, allowBatches, resumable, affinityCookie },
    ...{ maxConnections, maxSessions, maxMessageBytes, maxReplayLength },
    ...{ initializeTimeoutMs, idleTimeoutMs, stallTimeoutMs, keepAliveMs, closeGraceMs, requestTimeoutMs },
    reportError: (thrown: unknown) =>
      notifyListener(() => onError?.(thrown instanceof Error ? thrown : new Error(String(thrown)))),
  };
}
