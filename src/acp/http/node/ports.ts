// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
import { createServer as createHttp1, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTls, type TLSSocket, type TlsOptions } from 'node:tls';
import { after } from '../../../async/timers.js';

/** A request of either version. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;
/** A response of either version. */
export type AnyResponse = ServerResponse | Http2ServerResponse;

/** Listeners of {@link createBothVersions}. */
export interface BothListeners {
  readonly request: (request: AnyRequest, response: AnyResponse) => void;
  /** Receives upgrades, which only HTTP/1.1 has. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** A server of both versions of HTTP. */
export interface BothVersions {
  /** The server that listens. */
  readonly server: Server;
  /** Closes connections that wait for a request. */
  readonly closeIdle: () => void;
  /** Breaks all connections. */
  readonly destroy: () => void;
}

const MAX_HEADER_BYTES = 16 * 1024;
/** Milliseconds for the first bytes of a connection, and for the headers of a request. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
/** The beginning of an HTTP/2 connection (RFC 9113, section 3.4). */
const PREFACE = 'PRI * HTTP/2.0';

/**
 * Creates a server that accepts HTTP/2 and HTTP/1.1 on one port. With TLS, the client chooses the version by ALPN; without it, by its first
 * bytes (RFC 9113, section 3.3).
 */
export function createBothVersions(
  tls: TlsOptions | undefined,
  maxSockets: number,
  { request, upgrade }: BothListeners,
): BothVersions {
  const sockets = new Set<Socket>();
  const http1 = createHttp1({
    ...{ maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS },
    ...{ connectionsCheckingInterval: 5000, keepAliveTimeout: 5000 },
  });
  const http2 = createHttp2({ settings: { maxHeaderListSize: MAX_HEADER_BYTES }, maxSessionMemory: 64 });
  http1.on('request', request).on('upgrade', upgrade);
  http2.on('request', request);
  http2.on('sessionError', () => undefined);
  // Neither listens itself; this starts the checks of the timeouts.
  http1.emit('listening');

  const accept = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  };
  const server =
    tls === undefined
      ? createTcp({ allowHalfOpen: true, noDelay: true })
      : createTls({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] });
  server.maxConnections = maxSockets;
  server.on('connection', accept);
  if (tls === undefined) {
    server.on('connection', (socket: Socket) => {
      const stop = after(HEADERS_MS, () => socket.destroy());
      socket.once('close', stop);
      chooseVersion(socket, (isHttp2) => {
        stop();
        // Only HTTP/1.1 handles clients that end their output before they have read the response.
        socket.allowHalfOpen = !isHttp2;
        (isHttp2 ? http2 : http1).emit('connection', socket);
      });
    });
  } else {
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', () => socket.destroy());
      (socket.alpnProtocol === 'h2' ? http2 : http1).emit('connection', socket);
    });
  }
  server.once('close', () => http1.close());
  return {
    server,
    closeIdle: () => http1.closeIdleConnections(),
    destroy: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Reads the first bytes of a connection until they differ from those of HTTP/2, and puts them back. */
function chooseVersion(socket: Socket, choose: (isHttp2: boolean) => void): void {
  const read = (): void => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    const start = chunk.subarray(0, PREFACE.length).toString('latin1');
    socket.unshift(chunk);
    if (start.length < PREFACE.length && PREFACE.startsWith(start)) return;
    socket.off('readable', read);
    choose(start === PREFACE);
  };
  socket.on('readable', read);
}
