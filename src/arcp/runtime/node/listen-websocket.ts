// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
/** A runtime on a port: one envelope in each text message of a WebSocket (spec 003, "Transports"). */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import process from 'node:process';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { notifyListener } from '../../../async/listeners.js';
import { afterUnref } from '../../../async/timers.js';
import type { Channel } from '../../../channels/channel.js';
import {
  type Admission,
  answer,
  answerJson,
  HEALTH_PATH,
  listenOn,
  refuseUpgrade,
  toOriginForm,
} from '../../../channels/node/listen.js';
import { webSocketChannel } from '../../../channels/websocket.js';
import { MAX_MESSAGE_BYTES } from '../../protocol/codec.js';
import { SUBPROTOCOL } from '../../protocol/envelope.js';
import type { Runtime } from '../runtime.js';

const ARCP_PATH = '/arcp';

export interface ListenWebSocketOptions {
  /** 0 for a free port. @default 7777 */
  readonly port?: number | undefined;
  /** @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** @default '/arcp' */
  readonly path?: string | undefined;
  /**
   * Requires this bearer token: in the `Authorization` header (RFC 6750), as the subprotocol `bearer.TOKEN` for browsers, or within ten
   * seconds in the `auth` of `session.open`. It admits a client; the runtime's `auth` identifies it.
   */
  readonly token?: string | undefined;
  /** Allows other machines without a token. @default false */
  readonly insecure?: boolean | undefined;
  /** Allowed origins of web pages besides this machine: `https://example.org`. @default none */
  readonly origins?: readonly string[] | undefined;
  /** Limit of concurrent connections. @default 10000 */
  readonly maxConnections?: number | undefined;
  /** Limit of a message in bytes; a longer one ends the connection with 1009. @default 4 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** Receives errors that no call reports. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface WebSocketListener {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Stops listening; resolves when the port is free. Open connections stay. */
  readonly close: () => Promise<void>;
}

/** Milliseconds of silence before the upgrade. */
const HEADERS_TIMEOUT = 10_000;

/**
 * Listens for WebSockets. On the loopback, requests must name this machine; pages of other origins are refused everywhere.
 *
 * @throws ServeError if it cannot listen, or must not: on a public address without a token
 * @throws TypeError if an option is invalid
 */
export async function listenWebSocket(
  runtime: Runtime,
  options: ListenWebSocketOptions = {},
): Promise<WebSocketListener> {
  const { port = 7777, host = '127.0.0.1', path = ARCP_PATH, token, insecure = false, origins = [] } = options;
  if (!path.startsWith('/') || path === HEALTH_PATH || /[?#\s]/.test(path))
    throw new TypeError(`path begins with "/" and is not ${HEALTH_PATH}; got "${path}"`);
  let gate!: Gate;
  const bound = await listenOn({ port, host, token, insecure, origins }, (admission) => {
    gate = new Gate(runtime, admission, { ...options, path });
    return gate.server;
  });
  return { url: `ws://${bound.authority}${path}`, host: bound.host, port: bound.port, close: () => gate.close() };
}

class Gate {
  readonly server: Server;
  readonly #runtime: Runtime;
  readonly #admission: Admission;
  readonly #options: ListenWebSocketOptions & { readonly path: string };
  readonly #webSockets: WebSocketServer;

  constructor(runtime: Runtime, admission: Admission, options: ListenWebSocketOptions & { readonly path: string }) {
    const { maxMessageBytes = MAX_MESSAGE_BYTES, maxConnections = 10_000 } = options;
    if (!(maxMessageBytes >= 1)) throw new TypeError(`maxMessageBytes is a number from 1 on; got ${maxMessageBytes}`);
    if (!(maxConnections >= 1)) throw new TypeError(`maxConnections is a number from 1 on; got ${maxConnections}`);
    this.#runtime = runtime;
    this.#admission = admission;
    this.#options = options;
    this.#webSockets = new WebSocketServer({
      noServer: true,
      maxPayload: maxMessageBytes,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    this.server = createServer({ headersTimeout: HEADERS_TIMEOUT, requestTimeout: HEADERS_TIMEOUT });
    this.server.maxConnections = maxConnections;
    this.server.on('request', this.#request);
    this.server.on('upgrade', this.#upgrade);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeIdleConnections();
    this.#webSockets.close();
    await closed;
  }

  readonly #request = (request: IncomingMessage, response: ServerResponse): void => {
    toOriginForm(request);
    const refusal = this.#admission.checkNames(request.headers);
    const path = (request.url ?? '/').replace(/\?.*$/s, '');
    if (refusal !== null) answer(response, refusal.status);
    else if (path === HEALTH_PATH && (request.method === 'GET' || request.method === 'HEAD')) {
      answerJson(response, { status: 'ok', ...this.#runtime.counts() });
    } else if (path === this.#options.path) {
      // RFC 9110, section 15.5.22.
      response.setHeader('upgrade', 'websocket').setHeader('connection', 'upgrade');
      answer(response, 426);
    } else answer(response, 404);
  };

  /** Ends a connection that does not show its token in time. @returns checks a token */
  #within(channel: Channel): (token: string) => boolean {
    const cancel = afterUnref(HEADERS_TIMEOUT, () => channel.destroy());
    return (token) => {
      const isRight = this.#admission.isToken(token);
      if (isRight) cancel();
      return isRight;
    };
  }

  readonly #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Node no longer handles errors of the socket, which would end the process.
    socket.on('error', () => {});
    toOriginForm(request);
    const { headers, url = '/' } = request;
    const path = url.replace(/\?.*$/s, '');
    const admission = this.#admission;
    const isUnproven = admission.checkToken(headers, true) !== null;
    const refusal =
      admission.checkNames(headers) ??
      (path !== this.#options.path
        ? { status: 404 }
        : isUnproven && admission.showsToken(headers, true)
          ? { status: 401 }
          : null);
    if (refusal !== null) {
      refuseUpgrade(socket, refusal.status);
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const channel = webSocketChannel(webSocket, { maxLength: this.#options.maxMessageBytes ?? MAX_MESSAGE_BYTES });
      const peer = { kind: 'websocket', address: request.socket.remoteAddress };
      this.#runtime
        .accept(corked(channel, socket), isUnproven ? { ...peer, isToken: this.#within(channel) } : peer)
        .catch((error: unknown) => notifyListener(() => this.#options.onError?.(error)));
    });
  };
}

/** Sends all messages of one turn with one system call. */
function corked(channel: Channel, socket: Duplex): Channel {
  let isHeld = false;
  const release = (): void => {
    isHeld = false;
    socket.uncork();
  };
  return {
    ...channel,
    send: (text) => {
      if (!isHeld) {
        isHeld = true;
        socket.cork();
        process.nextTick(release);
      }
      channel.send(text);
    },
  };
}
