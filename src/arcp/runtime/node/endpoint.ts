// biome-ignore-all lint/correctness/noNodejsModules: listening needs Node
/** The parts that listeners on a port share: options, the health check, and the time limit for tokens. */
import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { afterUnref } from '../../../async/timers.js';
import type { Channel } from '../../../channels/channel.js';
import type { AnyRequest, AnyResponse } from '../../../channels/node/http-server.js';
import { type Admission, answerJson, HEALTH_PATH } from '../../../channels/node/listen.js';
import { MAX_MESSAGE_BYTES } from '../../protocol/codec.js';
import type { Runtime } from '../runtime.js';
import type { Peer } from '../sessions/auth.js';

/** Options of listeners on a port. */
export interface EndpointOptions {
  /** The port; 0 for a free one. @default 7777 */
  readonly port?: number | undefined;
  /** The address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** The path of the endpoint. @default '/arcp' */
  readonly path?: string | undefined;
  /**
   * Requires this bearer token: in the `Authorization` header (RFC 6750), as the subprotocol `bearer.TOKEN` of a WebSocket for browsers, or within ten
   * seconds in the `auth` of `session.open`. The token admits a client; the `auth` option of the runtime identifies it. @default none
   */
  readonly token?: string | undefined;
  /** If true, allows an address other than the loopback without a token. @default false */
  readonly insecure?: boolean | undefined;
  /** The allowed origins of web pages besides this machine: `https://example.org`. @default none */
  readonly origins?: readonly string[] | undefined;
  /** The maximum number of concurrent connections. @default 10000 */
  readonly maxConnections?: number | undefined;
  /** The longest message in bytes; a longer one ends the connection. @default 4194304 (4 MiB) */
  readonly maxMessageBytes?: number | undefined;
  /**
   * Answers requests for other paths, such as those of pages for people. Hosts and origins are checked before it is called, the token is not.
   *
   * @returns `false` if the request is for something else
   * @default none
   */
  readonly pages?: ((request: AnyRequest, response: AnyResponse) => boolean) | undefined;
  /** Receives errors of connections. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Options with their defaults. */
export interface Endpoint extends EndpointOptions {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly insecure: boolean;
  readonly origins: readonly string[];
  readonly maxConnections: number;
  readonly maxMessageBytes: number;
}

/** Milliseconds for the headers of a request, and for the token. */
export const HEADERS_TIMEOUT_MS = 10_000;

/** Completes options. @throws TypeError if one is invalid */
export function endpointOf(options: EndpointOptions): Endpoint {
  const { port = 7777, host = '127.0.0.1', path = '/arcp', token, insecure = false, origins = [] } = options;
  const { maxConnections = 10_000, maxMessageBytes = MAX_MESSAGE_BYTES } = options;
  if (!path.startsWith('/') || path === HEALTH_PATH || /[?#\s]/.test(path))
    throw new TypeError(`path must begin with "/" and differ from ${HEALTH_PATH}; got "${path}"`);
  for (const [name, value] of Object.entries({ maxMessageBytes, maxConnections }))
    if (!(value >= 1)) throw new TypeError(`${name} must be at least 1; got ${value}`);
  const { onError, pages } = options;
  return { port, host, path, token, insecure, origins, maxConnections, maxMessageBytes, onError, pages };
}

/** Answers the health check. Load balancers send no clients to a runtime that cannot serve them. */
export function answerHealth(runtime: Runtime, response: ServerResponse | Http2ServerResponse): void {
  const { state } = runtime;
  if (state !== 'running') response.statusCode = 503;
  answerJson(response, { status: state === 'running' ? 'ok' : state, ...runtime.counts() });
}

/** Describes a client. One that has not shown its token must do so in `session.open`, in time. */
export function peerOf(
  { isToken }: Pick<Admission, 'isToken'>,
  channel: Channel,
  peer: Pick<Peer, 'kind' | 'address'>,
  needsToken: boolean,
): Peer {
  if (!needsToken) return peer;
  const cancel = afterUnref(HEADERS_TIMEOUT_MS, () => channel.destroy());
  const verifyToken = (token: string): boolean => {
    const isValid = isToken(token);
    if (isValid) cancel();
    return isValid;
  };
  return { ...peer, verifyToken };
}
