// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
/** One server for HTTP/1.1 and HTTP/2, with and without TLS. */
import { createServer as createHttp1Server, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { monotonicClock } from '../../async/timers.js';
import {
  guardSession,
  HTTP2_SETTINGS,
  MAX_HEADER_BYTES,
  MAX_SESSION_MEGABYTES,
  MAX_STREAMS,
  resetLimit,
} from './http2-session.js';

/** A request of either version. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;
/** A response of either version. */
export type AnyResponse = ServerResponse | Http2ServerResponse;

/** A certificate and its key, in PEM. */
export interface TlsIdentity {
  /** The private key. */
  readonly key: string | Uint8Array;
  /** The certificate, followed by those of its issuers. */
  readonly cert: string | Uint8Array;
}

/** Options of {@link httpServer}. */
export interface HttpServerOptions {
  /** The certificate; without one, the server speaks HTTP/1.1 and, by prior knowledge, HTTP/2 without encryption. */
  readonly tls?: TlsIdentity | undefined;
  /** The maximum number of concurrent connections. */
  readonly maxConnections: number;
  /** The maximum number of concurrent streams of an HTTP/2 connection. @default 128 */
  readonly maxStreams?: number | undefined;
  /** Milliseconds between two pings of an HTTP/2 connection. @default 15_000 */
  readonly pingMs?: number | undefined;
  /** Milliseconds for a request of HTTP/1.1 with its body. Over HTTP/2, `readRequestBody` limits it. @default 60_000 */
  readonly requestTimeoutMs?: number | undefined;
  /** The current time in milliseconds, for the limit of resets. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** A server for HTTP/1.1 and HTTP/2. */
export interface HttpServer {
  /** The server that listens. */
  readonly server: Server;
  /** Stops listening, and announces it to clients with GOAWAY. Resolves when all connections have ended. */
  readonly close: () => Promise<void>;
  /** Breaks all connections. */
  readonly destroy: () => void;
}

/** Milliseconds for the handshake and the headers of a request. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Milliseconds for a request with its body. */
export const REQUEST_TIMEOUT_MS = 60_000;

/** Creates a server. @param onRequest called with each request of either version */
export function httpServer(
  options: HttpServerOptions,
  onRequest: (request: AnyRequest, response: AnyResponse) => void,
): HttpServer {
  const { tls, maxConnections, maxStreams = MAX_STREAMS, pingMs, now = Date.now } = options;
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const clock = monotonicClock(now);
  const http2Options = {
    settings: { ...HTTP2_SETTINGS, maxConcurrentStreams: maxStreams },
    maxSessionMemory: MAX_SESSION_MEGABYTES,
    peerMaxConcurrentStreams: maxStreams,
  };
  const http1Options = {
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, Math.ceil(requestTimeoutMs)),
    // 0 stands for no limit.
    requestTimeout: Number.isFinite(requestTimeoutMs) ? Math.ceil(requestTimeoutMs) : 0,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  let http2: Http2Server | Http2SecureServer;
  let server: Server;
  const http1 = new Http1Connections();
  const serve = (request: AnyRequest, response: AnyResponse): void => {
    if (!('stream' in response)) http1.count(request.socket, response);
    onRequest(request, response);
  };
  if (tls === undefined) {
    http2 = createServer(http2Options);
    server = createHttp1Server(http1Options, serve);
    passHttp2(server, http2, http1);
  } else {
    http2 = createSecureServer({
      ...http2Options,
      ...http1Options,
      key: bytes(tls.key),
      cert: bytes(tls.cert),
      allowHTTP1: true,
      handshakeTimeout: HEADERS_TIMEOUT_MS,
    });
    server = http2;
    // Node 20 ignores these options of a server for both versions.
    const { headersTimeout, requestTimeout } = http1Options;
    Object.assign(http2, { headersTimeout, requestTimeout });
  }
  server.maxConnections = maxConnections;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  http2.on('request', serve);
  // A connection that fails is its client's affair.
  http2.on('sessionError', () => {});
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    guardSession(session, { pingMs });
    const count = resetLimit(session, clock);
    session.on('stream', count);
  });
  http2.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol !== 'h2') http1.add(socket);
  });
  return {
    server,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      http1.close();
      await closed;
    },
    destroy: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function bytes(value: string | Uint8Array): string | Buffer {
  return typeof value === 'string' ? value : Buffer.from(value);
}

/** The connections of HTTP/1.1. They stay open between requests, which must not delay the end of the server. */
class Http1Connections {
  /** The number of unfinished requests by connection. */
  readonly #requests = new Map<Socket, number>();
  #isClosing = false;

  add(socket: Socket): void {
    this.#requests.set(socket, 0);
    socket.once('close', () => this.#requests.delete(socket));
  }

  delete(socket: Socket): void {
    this.#requests.delete(socket);
  }

  count(socket: Socket, response: ServerResponse): void {
    this.#requests.set(socket, (this.#requests.get(socket) ?? 0) + 1);
    response.once('close', () => {
      if (!this.#requests.has(socket)) return;
      const requests = this.#requests.get(socket)! - 1;
      this.#requests.set(socket, requests);
      if (this.#isClosing && requests === 0) socket.end();
    });
  }

  /** Ends each connection after its last request. */
  close(): void {
    this.#isClosing = true;
    for (const [socket, requests] of this.#requests) if (requests === 0) socket.destroy();
  }
}

/** The beginning of every HTTP/2 connection (RFC 9113, section 3.4). No request of HTTP/1.1 begins so. */
const PREFACE = 'PRI * HTTP/2.0\r\n';

/** Passes those connections of a server to another that begin with the preface of HTTP/2. */
function passHttp2(server: Server, http2: Http2Server, http1: Http1Connections): void {
  const [serveHttp1] = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    http1.add(socket);
    let head = Buffer.alloc(0);
    const fail = (): void => void socket.destroy();
    const read = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const begin = head.toString('latin1', 0, PREFACE.length);
      const isHttp2 = begin === PREFACE;
      // A prefix of the preface; the rest has not arrived.
      if (!isHttp2 && PREFACE.startsWith(begin)) return;
      socket.setTimeout(0).off('timeout', fail).off('error', fail).off('data', read).pause();
      socket.unshift(head);
      if (isHttp2) {
        // The end of the input ends a connection of HTTP/2; one of HTTP/1.1 still receives its response.
        socket.allowHalfOpen = false;
        http1.delete(socket);
        http2.emit('connection', socket);
      } else {
        serveHttp1!.call(server, socket);
        socket.resume();
      }
    };
    socket.setTimeout(HEADERS_TIMEOUT_MS).on('timeout', fail).on('error', fail).on('data', read);
    // An end without a request.
    socket.once('end', () => {
      if (head.length < PREFACE.length) socket.end();
    });
  });
}
