// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { type WebSocket, WebSocketServer } from 'ws';
import { assertDurations } from '../../async/durations.js';
import { notifyListener } from '../../async/listeners.js';
import { after, LONGEST_TIMER } from '../../async/timers.js';
import type { Channel } from '../../channels/channel.js';
import { channelSocket } from '../../channels/channel-socket.js';
import {
  type Admission,
  answer,
  answerJson,
  HEALTH_PATH,
  isWebSocketUpgrade,
  listenOn,
  type Refusal,
  refuseUpgrade,
  toOriginForm,
  withoutUpgrade,
} from '../../channels/node/listen.js';
import type { Endpoint } from '../bindings/endpoint.js';
import { MAX_FRAME_BYTES } from '../bindings/frames.js';
import { checkPath, createHandler, FRAMES_PATH } from '../bindings/http/create-handler.js';
import { createWebSocketEndpoint, SUBPROTOCOL, type WebSocketEndpoint } from '../bindings/websocket/index.js';
import { type AccessEntry, observeRequest } from './access-log.js';
import { Exchanges, isPreflight, preflight } from './exchanges.js';

/** Answers the requests to one path. */
export type Route = (request: Request) => Promise<Response>;

/** Options of {@link startServer}. */
export interface ServeOptions {
  /** The port; 0 for any free port. @default 4711 */
  readonly port?: number | undefined;
  /** A name or an address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** The path of frames, over HTTP and WebSocket. @default '/accp/v1/frames' */
  readonly path?: string | undefined;
  /**
   * Further paths and their handlers, of web-standard requests. Access is checked as for frames, before the handler is called.
   * @default {}
   */
  readonly routes?: Readonly<Record<string, Route>> | undefined;
  /**
   * Answers requests for other paths, such as those of pages for people. Hosts and origins are checked before it is called, the token is not.
   *
   * @returns `false` if the request is for something else
   * @default none
   */
  readonly pages?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Requires this bearer token (RFC 6750). Without it, every client that reaches the port can send frames. */
  readonly token?: string | undefined;
  /** If true, other machines can reach the server without a token. @default false */
  readonly insecure?: boolean | undefined;
  /** Origins of web pages that can use the server, besides its own: `https://example.org`. @default [] */
  readonly origins?: readonly string[] | undefined;
  /** The maximum size of a frame, in bytes. @default 1048576 */
  readonly maxFrameBytes?: number | undefined;
  /** The maximum number of concurrent connections; any others are closed at once. @default 1024 */
  readonly maxConnections?: number | undefined;
  /** Milliseconds for a request to arrive, of which its headers have at most 10 seconds; `Infinity` for no limit of the body. @default 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds for requests to be answered after `close`; 0 for none, `Infinity` for no limit. @default 5000 */
  readonly closeGraceMs?: number | undefined;
  /** Called when a request has been answered, and when a WebSocket has closed. */
  readonly onAccess?: ((entry: AccessEntry) => void) | undefined;
  /**
   * Called with the errors that end WebSockets or prevent responses. For the exceptions of a handler, see `onError` of the endpoint.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** The state of a server, as `GET /healthz` reports it. */
export interface ServerStatus {
  /** `closing` after `close`. */
  readonly status: 'ok' | 'closing';
  /** Number of sessions that have a WebSocket. */
  readonly sessions: number;
  /** Number of open connections, of HTTP and WebSocket. */
  readonly connections: number;
}

/** A server that listens. */
export interface RunningServer {
  /** The name or address that it listens on. */
  readonly host: string;
  /** The port that it listens on. */
  readonly port: number;
  /** The URL of frames. */
  readonly http: string;
  /** The URL of WebSockets. */
  readonly ws: string;
  /** Returns the state of the server. */
  readonly status: () => Promise<ServerStatus>;
  /**
   * Stops accepting connections, closes WebSockets with 1001, and lets requests be answered for `closeGraceMs`. Resolves when all
   * connections are closed. The endpoint stays open.
   */
  readonly close: () => Promise<void>;
  /**
   * Serves a client over a channel of another transport, with the messages of a WebSocket. The transport controls the access: the token and the
   * origins of the server do not apply.
   */
  readonly accept: (channel: Channel) => void;
  /** Closes all connections at once. */
  readonly terminate: () => void;
}

const MAX_HEADER_BYTES = 16 * 1024;
/** Methods that a `Request` of the platform cannot have (Fetch, section 2.2.1). */
const UNSUPPORTED_METHODS: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);

/**
 * Starts a server for an endpoint. The server checks access in front of the endpoint: by token, and for web pages by their origin. If the
 * server listens on a loopback address, requests must use a host name of this machine, so that a web page cannot reach it through DNS
 * rebinding.
 *
 * Source: draft-benzing-accp-00, sections 11.1 and 11.2.
 *
 * @throws ServeError if the server cannot listen, or if other machines could reach it without a token
 * @throws TypeError if an option is invalid
 * @example
 * const server = await startServer(createEndpoint(demoAgent('echo')), { port: 0 });
 */
export async function startServer(endpoint: Endpoint, options: ServeOptions = {}): Promise<RunningServer> {
  const settings = resolveServeOptions(options);
  let frameServer!: FrameServer;
  const { host, port, authority } = await listenOn(settings, (admission) => {
    frameServer = new FrameServer(endpoint, admission, settings);
    return frameServer.server;
  });
  const address = `${authority}${settings.path}`;
  const { status, accept, close, terminate } = frameServer;
  return { host, port, http: `http://${address}`, ws: `ws://${address}`, status, accept, close, terminate };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

class FrameServer {
  readonly server: Server;
  readonly #admission: Admission;
  readonly #settings: ReturnType<typeof resolveServeOptions>;
  readonly #sockets: WebSocketEndpoint;
  readonly #webSockets: WebSocketServer;
  readonly #frames: Listener;
  readonly #routes: ReadonlyMap<string, Listener>;
  /** Connections that have not sent a request. */
  readonly #idleSockets = new Set<Socket>();
  readonly #exchanges = new Exchanges();
  /** The channels of other transports. */
  readonly #channels = new Set<Channel>();
  #closing: Promise<void> | undefined;

  constructor(endpoint: Endpoint, admission: Admission, settings: ReturnType<typeof resolveServeOptions>) {
    const { path, routes, maxFrameBytes, maxConnections, requestTimeoutMs, reportAccess, reportError } = settings;
    this.#admission = admission;
    this.#settings = settings;
    const handler = createHandler(endpoint, { path, maxFrameBytes, onError: reportError });
    // The path does not depend on the host name that a client uses.
    const listener = (answerTo: Route): Listener =>
      createRequestListener((request) => answerTo(request), { host: 'localhost', onError: reportError });
    this.#frames = listener(handler);
    this.#routes = new Map(Object.entries(routes).map(([route, answerTo]) => [route, listener(answerTo)]));
    this.#sockets = createWebSocketEndpoint(endpoint, { maxFrameBytes, onError: reportError });
    this.#webSockets = new WebSocketServer({
      noServer: true,
      maxPayload: maxFrameBytes,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    this.server = createServer({
      // Node takes 0 for no limit.
      requestTimeout: requestTimeoutMs > LONGEST_TIMER ? 0 : Math.max(1, Math.round(requestTimeoutMs)),
      headersTimeout: Math.max(1, Math.round(Math.min(requestTimeoutMs, 10_000))),
      connectionsCheckingInterval: Math.ceil(Math.min(requestTimeoutMs / 2, 5000)),
      keepAliveTimeout: 5000,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    this.server.maxConnections = maxConnections;
    this.server.on('connection', (socket) => {
      // A connection that was returned after an ignored upgrade is not new.
      if (!this.#exchanges.opened(socket)) return;
      this.#idleSockets.add(socket);
      socket.once('close', () => this.#idleSockets.delete(socket));
    });
    this.server.on('drop', (data) => {
      const remoteAddress = data?.remoteAddress ?? '-';
      const startedAt = Date.now();
      reportAccess({
        startedAt,
        remoteAddress,
        method: '-',
        path: '-',
        status: 0,
        durationMs: 0,
        bytes: 0,
        note: 'too many connections',
      });
    });
    this.server.on('request', this.#request);
    this.server.on('upgrade', this.#upgrade);
  }

  readonly status = async (): Promise<ServerStatus> => {
    const connections = await new Promise<number>((resolve, reject) => {
      this.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    });
    const sessions = this.#sockets.connected().length;
    return { status: this.#closing === undefined ? 'ok' : 'closing', sessions, connections };
  };

  readonly #request = (request: IncomingMessage, response: ServerResponse): void => {
    this.#idleSockets.delete(request.socket);
    this.#exchanges.started(request, response);
    toOriginForm(request);
    const { path, report } = observeRequest(request, this.#settings.reportAccess);
    let note: string | undefined;
    response.once('close', () => {
      const isCut = !response.writableFinished;
      report(response.headersSent ? response.statusCode : 0, note ?? (isCut ? 'cut off' : undefined));
      // The connection would stay open for the next request.
      if (this.#closing !== undefined) setImmediate(() => this.server.closeIdleConnections());
    });
    if (this.#closing !== undefined) {
      response.setHeader('connection', 'close');
      answer(response, 503);
      return;
    }
    const { origin } = request.headers;
    const refusal = this.#admission.checkNames(request.headers);
    if (refusal !== null) {
      note = refusal.reason;
      answer(response, refusal.status);
      return;
    }
    if (origin !== undefined) response.setHeader('access-control-allow-origin', origin).setHeader('vary', 'origin');
    const isFrame = path === this.#settings.path;
    const listener = isFrame ? this.#frames : this.#routes.get(path);
    if (origin !== undefined && !isFrame) response.setHeader('access-control-expose-headers', '*');
    if (path === HEALTH_PATH) this.#health(request, response);
    else if (listener === undefined) {
      if (this.#settings.pages?.(request, response) !== true) answer(response, 404);
    } else if (isPreflight(request)) preflight(request, response, isFrame);
    else if (UNSUPPORTED_METHODS.has(request.method ?? '')) {
      response.setHeader('allow', 'POST');
      answer(response, 405);
    } else {
      const tokenRefusal = this.#admission.checkToken(request.headers, false);
      note = tokenRefusal?.reason;
      if (tokenRefusal === null) listener(request, response);
      else answer(response, tokenRefusal.status);
    }
  };

  #health({ method }: IncomingMessage, response: ServerResponse): void {
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      answer(response, 405);
      return;
    }
    this.status().then(
      (status) => answerJson(response, status),
      (thrown) => {
        this.#settings.reportError(thrown);
        answer(response, 500);
      },
    );
  }

  readonly #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Node has released the connection, whose errors would end the process. `close` reports its end.
    if (!socket.listeners('error').includes(ignoreError)) socket.on('error', ignoreError);
    const answered = this.#exchanges.answered(socket);
    // Earlier requests are answered first: their answers must not be sent in the new protocol.
    if (answered === undefined) this.#upgradeNow(request, socket, head);
    else void answered.then(() => socket.destroyed || this.#upgradeNow(request, socket, head));
  };

  #upgradeNow(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!isWebSocketUpgrade(request)) {
      withoutUpgrade(request, socket, head);
      this.server.emit('connection', socket);
      return;
    }
    this.#idleSockets.delete(request.socket);
    toOriginForm(request);
    const { path, report } = observeRequest(request, this.#settings.reportAccess);
    let status = 400;
    let note: string | undefined;
    const onClose = (): void => report(status, note);
    socket.once('close', onClose);
    const refusal = this.#refusalOf(path, request);
    if (refusal !== null) {
      status = refusal.status;
      note = refusal.reason;
      refuseUpgrade(socket, status);
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
      socket.off('close', onClose);
      webSocket.once('close', (code) => report(101, `close ${code}`));
      this.#sockets.accept(webSocket);
    });
  }

  #refusalOf(path: string, { headers }: IncomingMessage): Refusal | { status: number; reason?: string } | null {
    if (this.#closing !== undefined) return { status: 503 };
    const named = this.#admission.checkNames(headers);
    if (named !== null) return named;
    return path === this.#settings.path ? this.#admission.checkToken(headers, true) : { status: 404 };
  }

  readonly close = (): Promise<void> => {
    this.#closing ??= this.#close();
    return this.#closing;
  };

  async #close(): Promise<void> {
    const { closeGraceMs, requestTimeoutMs } = this.#settings;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.#idleSockets) socket.destroy();
    void this.#sockets.close();
    const stopGraceTimer = after(closeGraceMs, this.terminate);
    // A closing server no longer checks the timeouts of its requests.
    const stopRequestTimer = after(requestTimeoutMs, () => this.#exchanges.destroyIncomplete());
    await closed;
    stopRequestTimer();
    stopGraceTimer();
    this.#webSockets.close();
  }

  readonly accept = (channel: Channel): void => {
    if (this.#closing !== undefined) {
      channel.destroy();
      return;
    }
    this.#channels.add(channel);
    const socket = channelSocket(channel);
    socket.addEventListener('close', () => this.#channels.delete(channel));
    this.#sockets.accept(socket);
  };

  readonly terminate = (): void => {
    void this.close();
    for (const channel of this.#channels) channel.destroy();
    for (const webSocket of this.#webSockets.clients) webSocket.terminate();
    this.server.closeAllConnections();
  };
}

function ignoreError(): void {}

/** Checks the options and sets defaults. @throws TypeError if an option is invalid */
function resolveServeOptions(options: ServeOptions) {
  const { port = 4711, host = '127.0.0.1', path = FRAMES_PATH, routes = {} } = options;
  const { token, insecure = false, origins = [] } = options;
  const {
    maxFrameBytes = MAX_FRAME_BYTES,
    maxConnections = 1024,
    requestTimeoutMs = 30_000,
    closeGraceMs = 5000,
  } = options;
  const { onAccess, onError, pages } = options;
  for (const used of [path, ...Object.keys(routes)]) {
    checkPath(used);
    if (used === HEALTH_PATH)
      throw new TypeError(`path must not be ${HEALTH_PATH}, which reports the state of the server`);
  }
  if (Object.hasOwn(routes, path)) throw new TypeError(`path must not be ${path}, which is one of the routes`);
  if (!Object.values(routes).every((route) => typeof route === 'function'))
    throw new TypeError('routes must be functions by path');
  if (!Array.isArray(origins)) throw new TypeError('origins must be an array');
  if (!(maxConnections >= 1)) throw new TypeError(`maxConnections must be a number >= 1; got ${maxConnections}`);
  assertDurations({ requestTimeoutMs });
  assertDurations({ closeGraceMs }, 0);
  return {
    ...{ port, host, path, routes, token, insecure, origins, maxFrameBytes, maxConnections },
    requestTimeoutMs,
    closeGraceMs,
    pages,
    reportAccess: (entry: AccessEntry) => notifyListener(() => onAccess?.(entry)),
    reportError: (thrown: unknown) =>
      notifyListener(() => onError?.(thrown instanceof Error ? thrown : new Error(String(thrown)))),
  };
}
