// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { after, everyUnref } from '../../../async/timers.js';
import type { Channel } from '../../../channels/channel.js';
import { EVENT_STREAM, KEEP_ALIVE_COMMENT } from '../../../channels/event-stream.js';
import { isMediaType, textOfBytes } from '../../../channels/media-type.js';
import { type AnyRequest, type AnyResponse, type HttpServer, httpServer } from '../../../channels/node/http-server.js';
import {
  type Admission,
  isWebSocketUpgrade,
  refuseUpgrade,
  toOriginForm,
  withoutUpgrade,
} from '../../../channels/node/listen.js';
import { refuse } from '../../../channels/node/refuse.js';
import { readRequestBody } from '../../../channels/node/request-body.js';
import { maxPayloadOf } from '../../../channels/websocket.js';
import { valueOfMember } from '../../../text/json-text.js';
import type { Id } from '../../message.js';
import {
  CONNECTION_HEADER,
  isSessionId,
  JSON_TYPE,
  KEEP_ALIVE_HEADER,
  LAST_EVENT_HEADER,
  type Outline,
  outlineOf,
  RESUMABLE_HEADER,
  SESSION_HEADER,
  VERSION_HEADER,
} from '../protocol.js';
import { ServerConnection } from '../server-connection.js';
import { acceptWebSocket } from './accept-websocket.js';
import type { AcpSettings, IncomingConnection } from './options.js';
import { METHODS, RequestRefused, refusalOf } from './refusals.js';
import { replyEmpty, replyJson, sinkOf } from './replies.js';

const HIGH_WATER_MARK = 1024 * 1024;
/** The backlog of an agent that does not wait for its client. */
const MAX_BACKLOG = 64 * 1024 * 1024;
/** Sockets per connection over HTTP/1.1: the streams, and the request. */
const SOCKETS_PER_CONNECTION = 8;
/** Streams of HTTP/2 besides those of sessions: that of the connection, and requests. */
const SPARE_STREAMS = 128;

/** The headers of responses that web pages can read. */
const EXPOSED = [CONNECTION_HEADER, RESUMABLE_HEADER, KEEP_ALIVE_HEADER].join(', ');

type OnConnection = (channel: Channel, connection: IncomingConnection) => unknown;

/** Serves the routes of one path. */
export class AcpServer {
  readonly server: Server;
  readonly #onConnection: OnConnection;
  readonly #admission: Admission;
  readonly #settings: AcpSettings;
  readonly #http: HttpServer;
  readonly #connections = new Map<string, ServerConnection>();
  /** The channels of WebSockets. */
  readonly #sockets = new Set<Channel>();
  readonly #webSockets: WebSocketServer;
  /** The responses that are not transmitted, those of streams included. */
  readonly #responses = new Set<AnyResponse>();
  readonly #stopKeepAlive: () => void;
  #closing: Promise<void> | undefined;

  constructor(onConnection: OnConnection, admission: Admission, settings: AcpSettings) {
    const { maxConnections, maxMessageBytes, maxSessions, keepAliveMs, requestTimeoutMs, tls } = settings;
    this.#onConnection = onConnection;
    this.#admission = admission;
    this.#settings = settings;
    this.#webSockets = new WebSocketServer({
      ...{ noServer: true, clientTracking: false, perMessageDeflate: false },
      maxPayload: maxPayloadOf(maxMessageBytes),
      handleProtocols: (offered) => (offered.has('acp') ? 'acp' : false),
    });
    this.#http = httpServer(
      {
        ...{ tls, pingMs: keepAliveMs, requestTimeoutMs, maxConnections: maxConnections * SOCKETS_PER_CONNECTION },
        maxStreams: maxSessions + SPARE_STREAMS,
      },
      this.#request,
    );
    this.server = this.#http.server;
    this.server.on('upgrade', this.#upgrade);
    this.#stopKeepAlive = everyUnref(keepAliveMs, () => {
      for (const connection of this.#connections.values()) connection.comment(KEEP_ALIVE_COMMENT);
    });
  }

  readonly connections = (): number => this.#connections.size + this.#sockets.size;

  readonly #request = (request: AnyRequest, response: AnyResponse): void => {
    // Errors of a client that goes away.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
    this.#route(request, response).catch((thrown: unknown) => {
      const isRefused = thrown instanceof RequestRefused;
      if (!isRefused) this.#settings.reportError(thrown);
      if (response.headersSent) response.destroy();
      else refuse(request, response, refusalOf(isRefused ? thrown.code : 'internal'));
    });
  };

  /** @throws RequestRefused */
  async #route(request: AnyRequest, response: AnyResponse): Promise<void> {
    const { headers } = request;
    if ('stream' in request) headers.host = request.authority;
    else toOriginForm(request);
    if (this.#closing !== undefined) throw new RequestRefused('closing');
    const refusal = this.#admission.checkNames(headers);
    if (refusal !== null) throw new RequestRefused(refusal.reason === 'host' ? 'wrong-host' : 'wrong-origin');
    if (headers.origin !== undefined) allowOrigin(response, headers.origin);
    if (pathOf(request) !== this.#settings.path) throw new RequestRefused('unknown-path');
    if (request.method === 'OPTIONS') {
      allowMethods(response);
      return;
    }
    if (this.#admission.checkToken(headers, false) !== null) throw new RequestRefused('wrong-token');
    if (request.httpVersionMajor < 2 && !this.#settings.allowHttp1) throw new RequestRefused('http2-required');
    if (request.method === 'POST') await this.#post(request, response);
    else if (request.method === 'GET') this.#get(response, headers);
    else if (request.method === 'DELETE') {
      this.#connectionOf(headers).terminate();
      replyEmpty(response, 202);
    } else throw new RequestRefused('unknown-method');
  }

  async #post(request: AnyRequest, response: AnyResponse): Promise<void> {
    const { headers } = request;
    if (!isMediaType(headers['content-type'], JSON_TYPE)) throw new RequestRefused('unsupported-media-type');
    // Not read for a connection that does not exist.
    if (headers[CONNECTION_HEADER] !== undefined) this.#connectionOf(headers);
    const { maxMessageBytes, requestTimeoutMs } = this.#settings;
    const { bytes, fault } = await readRequestBody(request, maxMessageBytes, requestTimeoutMs);
    if (fault === 'cut') return;
    if (fault !== undefined) throw new RequestRefused(fault === 'late' ? 'body-timeout' : 'too-long');
    const text = textOfBytes(bytes);
    if (text === null) throw new RequestRefused('not-json');
    const outline = outlineOf(text);
    if (outline === null) throw new RequestRefused('not-json');
    if (outline.kind === 'batch' && !this.#settings.allowBatches) throw new RequestRefused('batch');
    if (outline.kind === 'invalid') throw new RequestRefused('not-a-message');
    if (outline.kind === 'request' && outline.method === 'initialize')
      await this.#initialize(response, headers, text, outline.id!);
    else await this.#forward(response, headers, text, outline);
  }

  async #forward(response: AnyResponse, headers: IncomingHttpHeaders, text: string, outline: Outline): Promise<void> {
    const connection = this.#connectionOf(headers);
    const session = sessionOf(headers);
    const refused = connection.check(outline, session);
    if (refused !== null) throw new RequestRefused(refused);
    if (!(await connection.post(text, outline, session))) throw new RequestRefused('unknown-connection');
    replyEmpty(response, 202);
  }

  async #initialize(response: AnyResponse, headers: IncomingHttpHeaders, text: string, id: Id): Promise<void> {
    if (headers[CONNECTION_HEADER] !== undefined) throw new RequestRefused('initialized');
    if (this.connections() >= this.#settings.maxConnections) throw new RequestRefused('too-many-connections');
    const { keepAliveMs, affinityCookie } = this.#settings;
    const connection = this.#create(this.#settings.resumable && headers[RESUMABLE_HEADER] === '1');
    const answered = connection.initialize(text, id);
    const stop = after(this.#settings.initializeTimeoutMs, () => connection.destroy());
    response.once('close', () => {
      // Over HTTP/2, a response that was never sent counts as finished when it is closed.
      if (!response.writableEnded || !response.writableFinished) connection.destroy();
    });
    try {
      await this.#onConnection(connection, { id: connection.id, transport: 'http' });
    } catch (thrown) {
      this.#settings.reportError(thrown);
      connection.destroy();
      stop();
      throw new RequestRefused('no-agent');
    }
    const answer = await answered;
    stop();
    if (response.destroyed) return;
    if (answer === null) throw new RequestRefused('agent-ended');
    response.setHeader(CONNECTION_HEADER, connection.id);
    if (keepAliveMs !== Number.POSITIVE_INFINITY) response.setHeader(KEEP_ALIVE_HEADER, String(Math.ceil(keepAliveMs)));
    if (connection.isResumable) response.setHeader(RESUMABLE_HEADER, '1');
    if (affinityCookie !== undefined) response.setHeader('set-cookie', affinityCookie);
    replyJson(response, 200, withConnectionId(answer, connection.id));
  }

  #create(isResumable: boolean): ServerConnection {
    const { maxMessageBytes, maxReplayLength, maxSessions } = this.#settings;
    const { idleTimeoutMs: idleMs, stallTimeoutMs: stallMs } = this.#settings;
    const id = randomUUID();
    const connection = new ServerConnection(
      id,
      {
        ...{ replayLength: isResumable ? maxReplayLength : 0, maxMessageBytes, maxSessions },
        ...{ highWaterMark: HIGH_WATER_MARK, maxBacklog: MAX_BACKLOG, idleMs, stallMs },
      },
      () => this.#connections.delete(id),
    );
    this.#connections.set(id, connection);
    return connection;
  }

  #get(response: AnyResponse, headers: IncomingHttpHeaders): void {
    if (!accepts(headers.accept)) throw new RequestRefused('not-acceptable');
    const connection = this.#connectionOf(headers);
    const session = sessionOf(headers);
    const last = headers[LAST_EVENT_HEADER];
    if (last !== undefined && !(connection.isResumable && /^[0-9]{1,15}$/.test(String(last))))
      throw new RequestRefused('unknown-event');
    const lastId = last === undefined ? undefined : Number(last);
    const stream = connection.streamOf(session, lastId);
    if (stream === null) throw new RequestRefused('too-many-sessions');
    const sink = sinkOf(response);
    const attached = connection.attach(stream, sink, lastId);
    if (typeof attached === 'string') throw new RequestRefused(attached);
    response.once('close', attached);
    response.on('drain', () => stream.drained());
    response.writeHead(200, {
      'content-type': EVENT_STREAM,
      'cache-control': 'no-store, no-transform',
      // Asks nginx not to buffer.
      'x-accel-buffering': 'no',
    });
    // So that the client sees the headers before the first event.
    sink.write(KEEP_ALIVE_COMMENT, () => undefined);
    stream.drained();
  }

  /** @throws RequestRefused */
  #connectionOf(headers: IncomingHttpHeaders): ServerConnection {
    const id = headers[CONNECTION_HEADER];
    if (id === undefined) throw new RequestRefused('no-connection');
    const connection = this.#connections.get(String(id));
    if (connection === undefined) throw new RequestRefused('unknown-connection');
    return connection;
  }

  readonly #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    if (!isWebSocketUpgrade(request)) {
      // A server may ignore an upgrade (RFC 9110, section 7.8), such as to h2c, which some clients always offer.
      withoutUpgrade(request, socket, head);
      this.server.emit(this.#settings.tls === undefined ? 'connection' : 'secureConnection', socket);
      return;
    }
    toOriginForm(request);
    const status = this.#upgradeStatus(request);
    if (status !== null) {
      refuseUpgrade(socket, status);
      return;
    }
    const id = randomUUID();
    const { affinityCookie, maxMessageBytes, keepAliveMs } = this.#settings;
    const addHeaders = (headers: string[], of: IncomingMessage): void => {
      if (of !== request) return;
      headers.push(`Acp-Connection-Id: ${id}`);
      if (affinityCookie !== undefined) headers.push(`Set-Cookie: ${affinityCookie}`);
    };
    this.#webSockets.on('headers', addHeaders);
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const channel = acceptWebSocket(webSocket, socket, { maxMessageBytes, keepAliveMs });
      this.#sockets.add(channel);
      webSocket.once('close', () => this.#sockets.delete(channel));
      void this.#serve(channel, id).catch((thrown: unknown) => {
        this.#settings.reportError(thrown);
        webSocket.close(1011, 'the agent could not be started');
      });
    });
    this.#webSockets.off('headers', addHeaders);
  };

  async #serve(channel: Channel, id: string): Promise<void> {
    await this.#onConnection(channel, { id, transport: 'websocket' });
  }

  #upgradeStatus(request: IncomingMessage): number | null {
    const { headers } = request;
    if (this.#closing !== undefined) return 503;
    const refusal = this.#admission.checkNames(headers);
    if (refusal !== null) return refusal.status;
    if (pathOf(request) !== this.#settings.path) return 404;
    const token = this.#admission.checkToken(headers, true);
    if (token !== null) return token.status;
    return this.connections() >= this.#settings.maxConnections ? 503 : null;
  }

  readonly close = (): Promise<void> => {
    this.#closing ??= this.#close();
    return this.#closing;
  };

  async #close(): Promise<void> {
    this.#stopKeepAlive();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const channels = [...this.#connections.values(), ...this.#sockets];
    const stopGrace = after(this.#settings.closeGraceMs, () => {
      destroyAll(channels);
      this.#http.destroy();
    });
    const answered = [...this.#responses].map((response) => new Promise((resolve) => response.once('close', resolve)));
    await Promise.all([...channels.map((channel) => channel.end()), ...answered]);
    // The connections of HTTP have no requests now.
    void this.#http.close();
    await closed;
    stopGrace();
  }

  readonly terminate = (): void => {
    destroyAll([...this.#connections.values(), ...this.#sockets]);
    this.#http.destroy();
    void this.close();
  };
}

function destroyAll(channels: readonly Channel[]): void {
  for (const channel of channels) channel.destroy();
}

function pathOf({ url = '/' }: AnyRequest): string {
  return url.replace(/[?#].*$/s, '');
}

/** Returns the session in the headers. @throws RequestRefused */
function sessionOf(headers: IncomingHttpHeaders): string | undefined {
  const session = headers[SESSION_HEADER];
  if (session === undefined) return undefined;
  if (typeof session !== 'string' || !isSessionId(session)) throw new RequestRefused('wrong-session');
  return session;
}

/** Returns whether an event stream is acceptable (RFC 9110, section 12.5.1). */
function accepts(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    return isMediaType(range, EVENT_STREAM) && !/;\s*q=0(?:\.0*)?\s*(?:;|$)/i.test(range);
  });
}

function allowOrigin(response: AnyResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-allow-credentials', 'true');
  response.setHeader('access-control-expose-headers', EXPOSED);
  response.setHeader('vary', 'origin');
}

function allowMethods(response: AnyResponse): void {
  const headers = [CONNECTION_HEADER, SESSION_HEADER, VERSION_HEADER, RESUMABLE_HEADER, LAST_EVENT_HEADER];
  response.setHeader('access-control-allow-methods', METHODS);
  response.setHeader('access-control-allow-headers', ['authorization', 'content-type', ...headers].join(', '));
  response.setHeader('access-control-max-age', '600');
  replyEmpty(response, 204);
}

/** Adds the identifier of the connection to the result of `initialize`. The rest of the text stays as it is, with all digits of its numbers. */
function withConnectionId(text: string, id: string): string {
  const { result } = JSON.parse(text) as { readonly result?: unknown };
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return text;
  if (Object.hasOwn(result, 'connectionId')) return text;
  const inside = valueOfMember(text, 'result') + 1;
  const comma = Object.keys(result).length === 0 ? '' : ',';
  return `${text.slice(0, inside)}"connectionId":"${id}"${comma}${text.slice(inside)}`;
}
