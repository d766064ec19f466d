// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
import { notifyListener } from '../../async/listeners.js';
import { LONGEST_TIMER } from '../../async/timers.js';
import { HEALTH_PATH } from '../../channels/node/listen.js';
import { MAX_FRAME_BYTES } from '../bindings/frames.js';
import { checkPath, FRAMES_PATH } from '../bindings/http/create-handler.js';
import type { AccessEntry } from './access-log.js';

export interface ServeOptions {
  /** 0 for any free port. @default 4711 */
  readonly port?: number | undefined;
  /** @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** The path of frames, over HTTP and WebSocket. @default '/accp/v1/frames' */
  readonly path?: string | undefined;
  /** Requires this bearer token (RFC 6750). Without it, everybody who reaches the port may speak. */
  readonly token?: string | undefined;
  /** Whether other machines may reach the server without a token. @default false */
  readonly insecure?: boolean | undefined;
  /** Web pages that may speak to the server, besides its own: `https://example.org`. @default none */
  readonly origins?: readonly string[] | undefined;
  /** Limit of a frame in bytes. @default 1 MiB */
  readonly maxFrameBytes?: number | undefined;
  /** Connections at a time; more are closed at once. @default 1024 */
  readonly maxConnections?: number | undefined;
  /** Seconds for a request to come in. @default 30 */
  readonly requestTimeout?: number | undefined;
  /** Seconds for requests to be answered once the server closes; `Infinity` for no limit. @default 5 */
  readonly closeGrace?: number | undefined;
  /** Called with each request when it has been answered, and each WebSocket when it was closed. */
  readonly onAccess?: ((entry: AccessEntry) => void) | undefined;
  /**
   * Called with what ended a WebSocket other than a normal close, and what kept a response from being sent. For what a handler throws, see
   * `failed` of the endpoint.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

export interface ResolvedServeOptions {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly insecure: boolean;
  readonly origins: readonly string[];
  readonly maxFrameBytes: number;
  readonly maxConnections: number;
  /** Milliseconds. */
  readonly requestTimeout: number;
  /** Milliseconds, or `Infinity`. */
  readonly closeGrace: number;
  readonly tellAccess: (entry: AccessEntry) => void;
  readonly tellError: (thrown: unknown) => void;
}

/** @throws TypeError if an option is invalid */
export function resolveServeOptions(options: ServeOptions): ResolvedServeOptions {
  const { port = 4711, host = '127.0.0.1', path = FRAMES_PATH, token, insecure = false, origins = [] } = options;
  const { maxFrameBytes = MAX_FRAME_BYTES, maxConnections = 1024, requestTimeout = 30, closeGrace = 5 } = options;
  const { onAccess, onError } = options;
  checkPath(path);
  if (path === HEALTH_PATH) throw new TypeError(`${HEALTH_PATH} is where the server says how it is`);
  if (!Array.isArray(origins)) throw new TypeError('origins is a list');
  if (!(maxConnections >= 1)) throw new TypeError(`maxConnections is a number from 1 on; got ${maxConnections}`);
  if (!(requestTimeout > 0 && requestTimeout * 1000 <= LONGEST_TIMER))
    throw new TypeError(`requestTimeout is a number of seconds above 0; got ${requestTimeout}`);
  if (!(closeGrace >= 0)) throw new TypeError(`closeGrace is a number of seconds from 0 on; got ${closeGrace}`);
  return {
    ...{ port, host, path, token, insecure, origins, maxFrameBytes, maxConnections },
    requestTimeout: Math.max(1, Math.round(requestTimeout * 1000)),
    closeGrace: closeGrace === Number.POSITIVE_INFINITY ? closeGrace : Math.min(closeGrace * 1000, LONGEST_TIMER),
    tellAccess: (entry) => notifyListener(() => onAccess?.(entry)),
    tellError: (thrown) =>
      notifyListener(() => onError?.(thrown instanceof Error ? thrown : new Error(String(thrown)))),
  };
}
