// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
/** A proxy between clients and a server, which records the messages of WebSockets and of HTTP/1.1. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import { request as sendSecureRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { type Admission, answer, listenOn, refuseUpgrade, toOriginForm } from '../channels/node/listen.js';
import type { Feed, Line, Side } from './feed.js';

/** Options of {@link startProxy}. */
export interface ProxyOptions {
  /** The port; 0 for a free one. */
  readonly port: number;
  /** The address to listen on. */
  readonly host: string;
  /** The server: an `http`, `https`, `ws` or `wss` URL. Clients name the path; that of the URL replaces a request for `/`. */
  readonly to: string;
  /** Origins of web pages whose requests are forwarded. */
  readonly origins: readonly string[];
  /** If true, other machines can reach it. */
  readonly insecure: boolean;
}

/** A proxy that listens. */
export interface RunningProxy {
  /** The URL for clients, with the path of the server. */
  readonly url: string;
  /** Closes the proxy and its connections. */
  readonly close: () => Promise<void>;
}

/** Longer messages of WebSockets end the connection, in bytes. */
const MAX_PAYLOAD = 2 ** 25;
const MAX_LINE = 2 ** 22;
/** Headers of one connection (RFC 9110, section 7.6.1), and those that the proxy sets. */
const HOP_BY_HOP = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade host'.split(' '),
);
const HANDSHAKE_HEADERS = /^sec-websocket-/i;

/**
 * Starts a proxy. Since the server no longer sees the names of hosts, the proxy checks them: on the loopback, requests must name this machine, and
 * web pages must have one of the origins.
 *
 * @throws ServeError if it cannot listen
 * @throws TypeError if an option is invalid
 */
export async function startProxy(feed: Feed, options: ProxyOptions): Promise<RunningProxy> {
  const to = targetOf(options.to);
  let proxy!: ProxyServer;
  const { port, host, origins, insecure } = options;
  // The server checks tokens, which are forwarded.
  const bound = await listenOn({ port, host, token: undefined, insecure, origins }, (admission) => {
    proxy = new ProxyServer(feed, to, admission);
    return proxy.server;
  });
  const scheme = /^ws/.test(options.to) ? 'ws' : 'http';
  return { url: `${scheme}://${bound.authority}${to.pathname === '/' ? '' : to.pathname}`, close: proxy.close };
}

/** @throws TypeError if the address is not an http, https, ws or wss URL */
function targetOf(address: string): URL {
  const url = URL.canParse(address) ? new URL(address.replace(/^ws/, 'http')) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new TypeError('--to must be an http, https, ws or wss URL without a user name');
  return url;
}

class ProxyServer {
  readonly server: Server;
  readonly #feed: Feed;
  readonly #to: URL;
  readonly #admission: Admission;
  readonly #webSockets = new WebSocketServer({ noServer: true, maxPayload: MAX_PAYLOAD });

  constructor(feed: Feed, to: URL, admission: Admission) {
    this.#feed = feed;
    this.#to = to;
    this.#admission = admission;
    this.server = createServer();
    this.server.on('request', this.#request).on('upgrade', this.#upgrade);
  }

  readonly close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.#webSockets.clients) socket.terminate();
    this.server.closeAllConnections();
    await closed;
  };

  /** Returns the URL of the server for a request. The path is set as it is: one that begins with `//` must not name another host. */
  #urlOf({ url = '/' }: IncomingMessage): URL {
    const to = new URL(this.#to);
    if (url === '/') return to;
    const [, pathname = '', query = ''] = /^([^?]*)(.*)$/s.exec(url)!;
    to.pathname = pathname;
    to.search = query;
    return to;
  }

  readonly #request = (request: IncomingMessage, response: ServerResponse): void => {
    toOriginForm(request);
    const refusal = this.#admission.checkNames(request.headers);
    if (refusal !== null) {
      answer(response, refusal.status);
      return;
    }
    const url = this.#urlOf(request);
    const line = this.#feed.open(`${request.method} ${url.pathname}`);
    const send = url.protocol === 'https:' ? sendSecureRequest : sendRequest;
    const forwarded = send(url, { method: request.method, headers: forwardedHeaders(request) }, (answered) => {
      response.writeHead(answered.statusCode ?? 502, responseHeaders(answered));
      record(answered, line, 'server');
      answered.pipe(response);
      answered.once('close', () => line.close(`status ${answered.statusCode}`));
      answered.on('error', () => response.destroy());
    });
    record(request, line, 'client');
    request.pipe(forwarded);
    forwarded.on('error', (error) => {
      line.close(error.message);
      if (response.headersSent) response.destroy();
      else answer(response, 502);
    });
    response.on('error', () => forwarded.destroy()).once('close', () => forwarded.destroy());
    request.on('error', () => forwarded.destroy());
  };

  readonly #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => {});
    toOriginForm(request);
    const refusal = this.#admission.checkNames(request.headers);
    if (refusal !== null) {
      refuseUpgrade(socket, refusal.status);
      return;
    }
    const url = this.#urlOf(request);
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    const server = new WebSocket(url.href.replace(/^http/, 'ws'), offered.filter(Boolean), {
      headers: forwardedHeaders(request),
      ...{ maxPayload: MAX_PAYLOAD, perMessageDeflate: false, handshakeTimeout: 10_000 },
    });
    const early: [RawData, boolean][] = [];
    const keep = (data: RawData, isBinary: boolean): void => void early.push([data, isBinary]);
    server.on('message', keep);
    server.once('unexpected-response', (_, { statusCode = 502 }) => {
      this.#feed.open(`WebSocket ${url.pathname}`).close(`refused with status ${statusCode}`);
      refuseUpgrade(socket, statusCode);
      server.terminate();
    });
    server.on('error', (error) => {
      if (server.readyState === WebSocket.OPEN || socket.destroyed) return;
      this.#feed.open(`WebSocket ${url.pathname}`).close(error.message);
      refuseUpgrade(socket, 502);
    });
    socket.once('close', () => server.close());
    server.once('open', () => {
      // The client gets the protocol that the server has chosen.
      this.#webSockets.options.handleProtocols = () => server.protocol || false;
      this.#webSockets.handleUpgrade(request, socket, head, (client) => {
        server.off('message', keep);
        this.#relay(client, server, url.pathname);
        for (const [data, isBinary] of early) server.emit('message', data, isBinary);
      });
    });
  };

  #relay(client: WebSocket, server: WebSocket, path: string): void {
    const line = this.#feed.open(`WebSocket ${path}`, (text, side) => {
      this.#feed.own(line.session, side, text);
      (side === 'client' ? server : client).send(text);
      return undefined;
    });
    const join = (from: WebSocket, to: WebSocket, side: Side): void => {
      from.on('message', (data, isBinary) => {
        if (isBinary) line.note(side, `a binary message of ${(data as Buffer).length} bytes`);
        else line.record(side, data.toString());
        to.send(data, { binary: isBinary }, () => from.resume());
        // A slow receiver must not fill the memory of the proxy.
        if (to.bufferedAmount > MAX_PAYLOAD) from.pause();
      });
      from.on('close', (code, reason) => {
        line.close(`${side} closed with code ${code}${reason.length > 0 ? `: ${reason}` : ''}`);
        // 1005 and 1006 cannot be sent.
        if (code === 1005) to.close();
        else if (code === 1006 || code === 1015) to.terminate();
        else to.close(code, reason);
      });
      from.on('error', () => {});
    };
    join(client, server, 'client');
    join(server, client, 'server');
  }
}

function forwardedHeaders({ rawHeaders }: IncomingMessage): Record<string, string | string[]> {
  const headers: Record<string, string[]> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (HOP_BY_HOP.has(name) || HANDSHAKE_HEADERS.test(name)) continue;
    // Compressed answers could not be recorded.
    if (name === 'accept-encoding') continue;
    headers[name] = [...(headers[name] ?? []), rawHeaders[at + 1]!];
  }
  return Object.fromEntries(Object.entries(headers).map(([name, all]) => [name, all.length === 1 ? all[0]! : all]));
}

function responseHeaders({ rawHeaders }: IncomingMessage): string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!HOP_BY_HOP.has(rawHeaders[at]!.toLowerCase())) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!);
  return kept;
}

const TEXT_TYPE = /^(?:text\/|application\/(?:accp|aacp|json|x-ndjson|[\w.-]+\+json))/i;

/** Records the lines of a body as they pass; of an event stream, its data. */
function record(message: IncomingMessage, line: Line, side: Side): void {
  const type = message.headers['content-type'] ?? '';
  if (!TEXT_TYPE.test(type)) return;
  const isEvents = /^text\/event-stream/i.test(type);
  const decoder = new TextDecoder();
  let rest = '';
  const take = (text: string): void => {
    const shown = isEvents ? (/^data: ?(.*)$/s.exec(text)?.[1] ?? '') : text;
    if (shown.trim() !== '') line.record(side, shown.replace(/\r$/, ''));
  };
  message.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const one of lines) take(one);
    if (rest.length <= MAX_LINE) return;
    line.note(side, 'a line is too long to be recorded');
    rest = '';
  });
  message.once('end', () => take(rest));
}
