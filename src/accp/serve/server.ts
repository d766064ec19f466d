// biome-ignore-all lint/correctness/noNodejsModules: a server that listens is of Node
/** ACCP over HTTP and WebSocket on one port of this machine (draft-benzing-accp-00, sections 11.1 and 11.2). */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createRequestListener } from '@remix-run/node-fetch-server';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Endpoint } from '../bindings/endpoint.js';
import { MAX_FRAME_BYTES } from '../bindings/frames.js';
import { createHandler, FRAMES_PATH } from '../bindings/http/index.js';
import { createWebSocketEndpoint, SUBPROTOCOL, type WebSocketEndpoint } from '../bindings/websocket/index.js';
import type { AccessEntry } from './access-log.js';
import { type Admission, createAdmission, isLoopbackAddress, type Refusal } from './admission.js';
import { ServeError } from './errors.js';
import { addressOf, listening } from './listening.js';
import { observed } from './observed.js';
import { toOriginForm } from './origin-form.js';
import { answer, refuseUpgrade } from './plain-answers.js';
import { isPreflight, preflight } from './preflight.js';

export interface ServeOptions {
  /** 0 for one that is free. @default 4711 */
  readonly port?: number | undefined;
  /** @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** Of frames, over HTTP and WebSocket. @default '/accp/v1/frames' */
  readonly path?: string | undefined;
  /** What who speaks here has to show (RFC 6750). Without it, everybody who reaches the port may speak. */
  readonly token?: string | undefined;
  /** Whether others than this machine may reach it without a token. @default false */
  readonly insecure?: boolean | undefined;
  /** Web pages that may speak here, besides those of the server itself: `https://example.org`. @default none */
  readonly origins?: readonly string[] | undefined;
  /** Most bytes of a frame. @default 1 MiB */
  readonly maxFrameBytes?: number | undefined;
  /** Connections at a time; more are closed at once. @default 1024 */
  readonly maxConnections?: number | undefined;
  /** Seconds for a request to come in. @default 30 */
  readonly requestTimeout?: number | undefined;
  /** Seconds that requests have to be answered once the server closes. @default 5 */
  readonly closeGrace?: number | undefined;
  /** Told of each request when it has been answered, and of each WebSocket when it was closed. */
  readonly onAccess?: ((entry: AccessEntry) => void) | undefined;
  /** Told what ended a WebSocket other than its being closed, and what was wrong with a response. */
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
  /** Where frames are posted to. */
  readonly http: string;
  /** Where WebSockets connect to. */
  readonly ws: string;
  readonly status: () => Promise<ServerStatus>;
  /**
   * Takes nobody any more, closes WebSockets with 1001, and lets requests be answered for `closeGrace` seconds. Resolves when
   * all connections are closed. The endpoint stays the caller's.
   */
  readonly close: () => Promise<void>;
  /** Drops all connections at once. */
  readonly terminate: () => void;
}

/** Where a server says how it is. */
const HEALTH_PATH = '/healthz';
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Starts a server for an endpoint.
 *
 * Who may speak is decided in front of the endpoint: by token, and of web pages by their origin. Where only this machine reaches the
 * server, requests have to name it by a name of this machine, so that no page reaches it under a name of its own.
 *
 * Source: draft-benzing-accp-00, sections 11.1 and 11.2.
 *
 * @throws ServeError where it cannot listen, or must not
 * @throws TypeError on options that are none
 * @example
 * const server = await startServer(createEndpoint(tryAgent('echo')), { port: 0 });
 */
export async function startServer(endpoint: Endpoint, options: ServeOptions = {}): Promise<RunningServer> {
  const { port = 4711, host = '127.0.0.1', token, insecure = false, origins = [] } = options;
  const address = await addressOf(host);
  const isLoopback = isLoopbackAddress(address);
  if (!isLoopback && token === undefined && !insecure)
    throw new ServeError('no-token', `Without a token, others than this machine would speak on ${host}`);
  const admission = createAdmission({ token, origins, host, isLoopback });
  const front = new Front(endpoint, admission, options);
  await listening(front.server, port, address);
  const bound = (front.server.address() as AddressInfo).port;
  const { path = FRAMES_PATH } = options;
  const place = `${isIPv6(host) ? `[${host}]` : host}:${bound}${path}`;
  const { status, close, terminate } = front;
  return { host, port: bound, http: `http://${place}`, ws: `ws://${place}`, status, close, terminate };
}

/** What stands between the network and an endpoint. */
class Front {
  readonly server: Server;
  readonly #admission: Admission;
  readonly #options: ServeOptions;
  readonly #path: string;
  readonly #sockets: WebSocketEndpoint;
  readonly #webSockets: WebSocketServer;
  readonly #frames: (request: IncomingMessage, response: ServerResponse) => void;
  /** Connections on which nothing has been asked yet. */
  readonly #silent = new Set<Socket>();
  #closing: Promise<void> | undefined;

  /** @throws TypeError on options that are none */
  constructor(endpoint: Endpoint, admission: Admission, options: ServeOptions) {
    const { path = FRAMES_PATH, maxFrameBytes = MAX_FRAME_BYTES, maxConnections = 1024, onError } = options;
    const { requestTimeout = 30, closeGrace = 5 } = options;
    if (!(maxConnections >= 1)) throw new TypeError(`maxConnections is a number from 1 on; got ${maxConnections}`);
    if (!(requestTimeout > 0)) throw new TypeError(`requestTimeout is a number of seconds; got ${requestTimeout}`);
    if (!(closeGrace >= 0)) throw new TypeError(`closeGrace is a number of seconds from 0 on; got ${closeGrace}`);
    if (path === HEALTH_PATH) throw new TypeError(`${HEALTH_PATH} is where the server says how it is`);
    this.#admission = admission;
    this.#options = options;
    this.#path = path;
    const failed = (thrown: unknown): void => onError?.(thrown instanceof Error ? thrown : new Error(String(thrown)));
    const handler = createHandler(endpoint, { path, maxFrameBytes, failed });
    // What a client calls this server is no part of where frames are posted to.
    this.#frames = createRequestListener((request) => handler(request), { host: 'localhost', onError: failed });
    this.#sockets = createWebSocketEndpoint(endpoint, { maxFrameBytes, onError });
    this.#webSockets = new WebSocketServer({
      noServer: true,
      maxPayload: maxFrameBytes,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    });
    const milliseconds = requestTimeout * 1000;
    this.server = createServer({
      requestTimeout: milliseconds,
      headersTimeout: Math.min(milliseconds, 10_000),
      connectionsCheckingInterval: Math.min(milliseconds / 2, 5000),
      keepAliveTimeout: 5000,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    this.server.maxConnections = maxConnections;
    this.server.on('connection', (socket) => {
      this.#silent.add(socket);
      socket.once('close', () => this.#silent.delete(socket));
    });
    this.server.on('drop', (data) => {
      const remote = data?.remoteAddress ?? '-';
      const time = new Date().toISOString();
      options.onAccess?.({ time, remote, method: '-', path: '-', status: 0, ms: 0, bytes: 0, note: 'too many' });
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
    toOriginForm(request);
    const { path, tell } = observed(request, this.#options.onAccess);
    let note: string | undefined;
    response.once('close', () => {
      const isCut = !response.writableFinished;
      tell(response.headersSent ? response.statusCode : 0, note ?? (isCut ? 'cut off' : undefined));
      // It would be kept for the next request.
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
    else if (path !== this.#path) answer(response, 404);
    else if (isPreflight(request)) preflight(response);
    else {
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
      (status) => {
        response.setHeader('content-type', 'application/json').setHeader('cache-control', 'no-store');
        response.end(`${JSON.stringify(status)}\n`);
      },
      (thrown) => {
        this.#options.onError?.(thrown);
        answer(response, 500);
      },
    );
  }

  readonly #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    this.#silent.delete(request.socket);
    toOriginForm(request);
    const { path, tell } = observed(request, this.#options.onAccess);
    let status = 400;
    let note: string | undefined;
    const gone = (): void => tell(status, note);
    socket.once('close', gone);
    // A client that has gone is told of by `close`.
    socket.on('error', () => undefined);
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
  };

  #refusalOf(path: string, { headers }: IncomingMessage): Refusal | { status: number; reason?: string } | null {
    if (this.#closing !== undefined) return { status: 503 };
    const named = this.#admission.checkNames(headers);
    if (named !== null) return named;
    return path === this.#path ? this.#admission.checkToken(headers, true) : { status: 404 };
  }

  readonly close = (): Promise<void> => {
    this.#closing ??= this.#close();
    return this.#closing;
  };

  async #close(): Promise<void> {
    const { closeGrace = 5 } = this.#options;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.#silent) socket.destroy();
    void this.#sockets.close();
    const timer = setTimeout(this.terminate, closeGrace * 1000);
    await closed;
    clearTimeout(timer);
    this.#webSockets.close();
  }

  readonly terminate = (): void => {
    void this.close();
    for (const webSocket of this.#webSockets.clients) webSocket.terminate();
    this.server.closeAllConnections();
  };
}
