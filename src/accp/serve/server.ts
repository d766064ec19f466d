// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { type WebSocket, WebSocketServer } from 'ws';
import { notifyListener } from '../../async/listeners.js';
import { after, LONGEST_TIMER } from '../../async/timers.js';
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
import { type AccessEntry, observed } from './access-log.js';
import { Exchanges, isPreflight, preflight } from './exchanges.js';

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
  /** Milliseconds for a request to arrive. @default 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Milliseconds for requests to be answered once the server closes; 0 for no grace, `Infinity` for no limit. @default 5000 */
  readonly closeGraceMs?: number | undefined;
  /** Called with each request when it has been answered, and each WebSocket when it was closed. */
  readonly onAccess?: ((entry: AccessEntry) => void) | undefined;
  /**
   * Called with what ended a WebSocket other than a normal close, and what kept a response from being sent. For what a handler throws, see
   * `failed` of the endpoint.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

export interface ServerStatus {
  readonly status: 'ok' | 'closing';
  /** Sessions that have a WebSocket. */
  readonly sessions: number;
  /** Connections, of HTTP and WebSocket. */
  readonly connections: number;
}

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** The URL of frames. */
  readonly http: string;
  /** The URL of WebSockets. */
  readonly ws: string;
  readonly status: () => Promise<ServerStatus>;
  /**
   * Accepts no more connections, closes WebSockets with 1001, and lets requests be answered for `closeGraceMs` milliseconds. Resolves when all
   * connections are closed. The endpoint stays open.
   */
  readonly close: () => Promise<void>;
  /** Drops all connections at once. */
  readonly terminate: () => void;
}

const MAX_HEADER_BYTES = 16 * 1024;
/** Methods that no `Request` of the platform can have (Fetch, section 2.2.1). */
const NO_METHODS: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);

/**
 * Starts a server for an endpoint. Access is checked in front of the endpoint: by token, and for web pages by their origin. If only this
 * machine reaches the server, requests have to name it by a name of this machine, so that no page reaches it under a name of its own.
 *
 * Source: draft-benzing-accp-00, sections 11.1 and 11.2.
 *
 * @throws ServeError if it cannot listen, or must not
 * @throws TypeError if an option is invalid
 * @example
 * const server = await startServer(createEndpoint(demoAgent('echo')), { port: 0 });
 */
export async function startServer(endpoint: Endpoint, options: ServeOptions = {}): Promise<RunningServer> {
  const settings = resolveServeOptions(options);
  let front!: Front;
  const { host, port, authority } = await listenOn(settings, (admission) => {
    front = new Front(endpoint, admission, settings);
    return front.server;
  });
  const place = `${authority}${settings.path}`;
  const { status, close, terminate } = front;
  return { host, port, http: `http://${place}`, ws: `ws://${place}`, status, close, terminate };
}

class Front {
  readonly server: Server;
  readonly #admission: Admission;
  readonly #settings: ReturnType<typeof resolveServeOptions>;
  readonly #sockets: WebSocketEndpoint;
  readonly #webSockets: WebSocketServer;
  readonly #frames: (request: IncomingMessage, response: ServerResponse) => void;
  /** Connections without a request yet. */
  readonly #silent = new Set<Socket>();
  readonly #exchanges = new Exchanges();
  #closing: Promise<void> | undefined;

  constructor(endpoint: Endpoint, admission: Admission, settings: ReturnType<typeof resolveServeOptions>) {
    const { path, maxFrameBytes, maxConnections, requestTimeoutMs, tellAccess, tellError } = settings;
    this.#admission = admission;
    this.#settings = settings;
    const handler = createHandler(endpoint, { path, maxFrameBytes, onError: tellError });
    // The path does not depend on the name that a client uses.
    this.#frames = createRequestListener((request) => handler(request), { host: 'localhost', onError: tellError });
    this.#sockets = createWebSocketEndpoint(endpoint, { maxFrameBytes, onError: tellError });
    this.#webSockets = new WebSocketServer({
      noServer: true,
      maxPayload: maxFrameBytes,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    this.server = createServer({
      requestTimeout: requestTimeoutMs,
      headersTimeout: Math.min(requestTimeoutMs, 10_000),
      connectionsCheckingInterval: Math.min(Math.ceil(requestTimeoutMs / 2), 5000),
      keepAliveTimeout: 5000,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    this.server.maxConnections = maxConnections;
    this.server.on('connection', (socket) => {
      // A connection that was returned after an ignored upgrade is known.
      if (!this.#exchanges.opened(socket)) return;
      this.#silent.add(socket);
      socket.once('close', () => this.#silent.delete(socket));
    });
    this.server.on('drop', (data) => {
      const remoteAddress = data?.remoteAddress ?? '-';
      const startedAt = Date.now();
      tellAccess({
        startedAt,
        remoteAddress,
        method: '-',
        path: '-',
        status: 0,
        durationMs: 0,
        bytes: 0,
        note: 'too many',
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
    this.#silent.delete(request.socket);
    this.#exchanges.begun(request, response);
    toOriginForm(request);
    const { path, tell } = observed(request, this.#settings.tellAccess);
    let note: string | undefined;
    response.once('close', () => {
      const isCut = !response.writableFinished;
      tell(response.headersSent ? response.statusCode : 0, note ?? (isCut ? 'cut off' : undefined));
      // The connection would be kept for the next request.
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
    if (path === HEALTH_PATH) this.#health(request, response);
    else if (path !== this.#settings.path) answer(response, 404);
    else if (isPreflight(request)) preflight(response);
    else if (NO_METHODS.has(request.method ?? '')) {
      response.setHeader('allow', 'POST');
      answer(response, 405);
    } else {
      const wrong = this.#admission.checkToken(request.headers, false);
      note = wrong?.reason;
      if (wrong === null) this.#frames(request, response);
      else answer(response, wrong.status);
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
        this.#settings.tellError(thrown);
        answer(response, 500);
      },
    );
  }

  readonly #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Node has let go of the connection, whose errors would end the process. Its end is reported by `close`.
    if (!socket.listeners('error').includes(unheard)) socket.on('error', unheard);
    const answered = this.#exchanges.answered(socket);
    // Earlier requests are answered first: their answers must not come into the new protocol.
    if (answered === undefined) this.#upgradeNow(request, socket, head);
    else void answered.then(() => socket.destroyed || this.#upgradeNow(request, socket, head));
  };

  #upgradeNow(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!isWebSocketUpgrade(request)) {
      withoutUpgrade(request, socket, head);
      this.server.emit('connection', socket);
      return;
    }
    this.#silent.delete(request.socket);
    toOriginForm(request);
    const { path, tell } = observed(request, this.#settings.tellAccess);
    let status = 400;
    let note: string | undefined;
    const gone = (): void => tell(status, note);
    socket.once('close', gone);
    const refusal = this.#refusalOf(path, request);
    if (refusal !== null) {
      status = refusal.status;
      note = refusal.reason;
      refuseUpgrade(socket, status);
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
      socket.off('close', gone);
      webSocket.once('close', (code) => tell(101, `close ${code}`));
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
    for (const socket of this.#silent) socket.destroy();
    void this.#sockets.close();
    const stopGrace = after(closeGraceMs, this.terminate);
    // A closing server does not check its requests for time-outs any more.
    const stopUnasked = after(requestTimeoutMs, () => this.#exchanges.dropUnasked());
    await closed;
    stopUnasked();
    stopGrace();
    this.#webSockets.close();
  }

  readonly terminate = (): void => {
    void this.close();
    for (const webSocket of this.#webSockets.clients) webSocket.terminate();
    this.server.closeAllConnections();
  };
}

function unheard(): void {}

/** @throws TypeError if an option is invalid */
function resolveServeOptions(options: ServeOptions) {
  const { port = 4711, host = '127.0.0.1', path = FRAMES_PATH, token, insecure = false, origins = [] } = options;
  const {
    maxFrameBytes = MAX_FRAME_BYTES,
    maxConnections = 1024,
    requestTimeoutMs = 30_000,
    closeGraceMs = 5000,
  } = options;
  const { onAccess, onError } = options;
  checkPath(path);
  if (path === HEALTH_PATH) throw new TypeError(`${HEALTH_PATH} is where the server says how it is`);
  if (!Array.isArray(origins)) throw new TypeError('origins is a list');
  if (!(maxConnections >= 1)) throw new TypeError(`maxConnections must be a number >= 1; got ${maxConnections}`);
  if (!(requestTimeoutMs > 0 && requestTimeoutMs <= LONGEST_TIMER))
    throw new TypeError(
      `requestTimeoutMs must be a positive number of milliseconds, at most ${LONGEST_TIMER}; got ${requestTimeoutMs}`,
    );
  if (!(closeGraceMs >= 0))
    throw new TypeError(`closeGraceMs must be a non-negative number of milliseconds or Infinity; got ${closeGraceMs}`);
  return {
    ...{ port, host, path, token, insecure, origins, maxFrameBytes, maxConnections },
    requestTimeoutMs: Math.max(1, Math.round(requestTimeoutMs)),
    closeGraceMs,
    tellAccess: (entry: AccessEntry) => notifyListener(() => onAccess?.(entry)),
    tellError: (thrown: unknown) =>
      notifyListener(() => onError?.(thrown instanceof Error ? thrown : new Error(String(thrown)))),
  };
}
