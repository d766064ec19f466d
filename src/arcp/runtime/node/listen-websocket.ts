// biome-ignore-all lint/correctness/noNodejsModules: listening needs Node
/** A WebSocket listener for runtimes: one envelope in each text message (spec 003, "Transports"). */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { notifyListener } from '../../../async/listeners.js';
import {
  type Admission,
  answer,
  HEALTH_PATH,
  listenOn,
  refuseUpgrade,
  toOriginForm,
} from '../../../channels/node/listen.js';
import { wsChannel } from '../../../channels/node/ws-channel.js';
import { maxPayloadOf } from '../../../channels/websocket.js';
import { SUBPROTOCOL } from '../../protocol/envelope.js';
import type { Runtime } from '../runtime.js';
import {
  answerHealth,
  type Endpoint,
  type EndpointOptions,
  endpointOf,
  HEADERS_TIMEOUT_MS,
  peerOf,
} from './endpoint.js';

/** Options of a WebSocket listener. A message that is too long closes the connection with code 1009; it is answered before if it exceeds the limit by at most 1 MiB. */
export type ListenWebSocketOptions = EndpointOptions;

/** A WebSocket listener. */
export interface WebSocketListener {
  /** The URL of the endpoint: `ws://127.0.0.1:7777/arcp`. */
  readonly url: string;
  /** The address on which the server accepts connections. */
  readonly host: string;
  /** The port on which the server accepts connections, never 0. */
  readonly port: number;
  /** Stops listening. Resolves when the port is free; open connections stay open. */
  readonly close: () => Promise<void>;
}

/**
 * Listens for WebSocket connections to a runtime. On the loopback, the `Host` header must name this machine. Pages of other origins are refused.
 *
 * @throws ServeError if it cannot listen, or the address is public and there is no token
 * @throws TypeError if an option is invalid
 */
export async function listenWebSocket(
  runtime: Runtime,
  options: ListenWebSocketOptions = {},
): Promise<WebSocketListener> {
  const endpoint = endpointOf(options);
  let runtimeServer!: RuntimeServer;
  const bound = await listenOn(endpoint, (admission) => {
    runtimeServer = new RuntimeServer(runtime, admission, endpoint);
    return runtimeServer.server;
  });
  return {
    url: `ws://${bound.authority}${endpoint.path}`,
    host: bound.host,
    port: bound.port,
    close: () => runtimeServer.close(),
  };
}

class RuntimeServer {
  readonly server: Server;
  readonly #runtime: Runtime;
  readonly #admission: Admission;
  readonly #options: Endpoint;
  readonly #webSockets: WebSocketServer;

  constructor(runtime: Runtime, admission: Admission, options: Endpoint) {
    const { maxMessageBytes, maxConnections } = options;
    this.#runtime = runtime;
    this.#admission = admission;
    this.#options = options;
    this.#webSockets = new WebSocketServer({
      noServer: true,
      maxPayload: maxPayloadOf(maxMessageBytes),
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    this.server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: HEADERS_TIMEOUT_MS });
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
    else if (path === HEALTH_PATH && (request.method === 'GET' || request.method === 'HEAD'))
      answerHealth(this.#runtime, response);
    else if (path === this.#options.path) {
      // RFC 9110, section 15.5.22.
      response.setHeader('upgrade', 'websocket').setHeader('connection', 'upgrade');
      answer(response, 426);
    } else if (this.#options.pages?.(request, response) !== true) answer(response, 404);
  };

  readonly #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // After an upgrade, Node does not handle errors of the socket, which would crash the process.
    socket.on('error', () => {});
    toOriginForm(request);
    const { headers, url = '/' } = request;
    const path = url.replace(/\?.*$/s, '');
    const admission = this.#admission;
    const needsToken = admission.checkToken(headers, true) !== null;
    const refusal =
      admission.checkNames(headers) ??
      (path !== this.#options.path
        ? { status: 404 }
        : needsToken && admission.showsToken(headers, true)
          ? { status: 401 }
          : null);
    if (refusal !== null) {
      refuseUpgrade(socket, refusal.status);
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const channel = wsChannel(webSocket, { maxLength: this.#options.maxMessageBytes }, socket);
      const peer = { kind: 'websocket', address: request.socket.remoteAddress };
      this.#runtime
        .accept(channel, peerOf(admission, channel, peer, needsToken))
        .catch((error: unknown) => notifyListener(() => this.#options.onError?.(error)));
    });
  };
}
