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
import { type Admission, isWebSocketUpgrade, refuseUpgrade, toOriginForm } from '../../../channels/node/listen.js';
import { readRequestBody } from '../../../channels/node/request-body.js';
import { maxPayloadOf } from '../../../channels/websocket.js';
import type { Id } from '../../message.js';
import {
  CONNECTION_HEADER,
  JSON_TYPE,
  LAST_EVENT_HEADER,
  type Outline,
  outlineOf,
  RESUMABLE_HEADER,
  SESSION_HEADER,
} from '../protocol.js';
import { ServerConnection } from '../server-connection.js';
import { acceptWebSocket } from './accept-websocket.js';
import type { AcpSettings, IncomingConnection } from './options.js';
import { refuse, replyEmpty, replyJson, sinkOf } from './replies.js';

const METHODS = 'POST, GET, DELETE, OPTIONS';
const HIGH_WATER_MARK = 1024 * 1024;
/** The backlog of an agent that does not wait for its client. */
const MAX_BACKLOG = 64 * 1024 * 1024;
/** The longest identifier of a session in a header. */
const MAX_SESSION_ID = 1024;
/** Sockets per connection over HTTP/1.1: the streams, and the request. */
const SOCKETS_PER_CONNECTION = 8;
/** Streams of HTTP/2 besides those of sessions: that of the connection, and requests. */
const SPARE_STREAMS = 128;

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
    response.on('error', () => undefined);
    this.#route(request, response).catch((thrown: unknown) => {
      this.#settings.reportError(thrown);
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'internal', 'The server failed.');
    });
  };

  async #route(request: AnyRequest, response: AnyResponse): Promise<void> {
    const headers = headersOf(request);
    const { origin } = headers;
    if (this.#closing !== undefined) {
      refuse(response, 503, 'closing', 'The server is closing.');
      return;
    }
    const refusal = this.#admission.checkNames(headers);
    if (refusal !== null) {
      refuse(response, refusal.status, `wrong-${refusal.reason}`, `The ${refusal.reason} is not allowed.`);
      return;
    }
    if (origin !== undefined) allowOrigin(response, origin);
    if (pathOf(request) !== this.#settings.path) {
      refuse(response, 404, 'unknown-path', `The path is ${this.#settings.path}.`);
      return;
    }
    if (request.method === 'OPTIONS') {
      allowMethods(response);
      return;
    }
    if (this.#admission.checkToken(headers, false) !== null) {
      refuse(response, 401, 'wrong-token', 'The token is missing or wrong.');
      return;
    }
    if (request.httpVersionMajor < 2 && !this.#settings.allowHttp1) {
      refuse(response, 505, 'http2-required', 'Use HTTP/2, or a WebSocket.');
      return;
    }
    if (request.method === 'POST') await this.#post(request, response, headers);
    else if (request.method === 'GET') this.#get(response, headers);
    else if (request.method === 'DELETE') this.#delete(response, headers);
    else {
      response.setHeader('allow', METHODS);
      refuse(response, 405, 'unknown-method', `The methods are ${METHODS}.`);
    }
  }

  async #post(request: AnyRequest, response: AnyResponse, headers: IncomingHttpHeaders): Promise<void> {
    if (!isMediaType(headers['content-type'], JSON_TYPE)) {
      refuse(response, 415, 'not-json', `The media type must be ${JSON_TYPE}.`);
      return;
    }
    const { maxMessageBytes, allowBatches, requestTimeoutMs } = this.#settings;
    const { bytes, fault } = await readRequestBody(request, maxMessageBytes, requestTimeoutMs);
    if (fault === 'too-long' || fault === 'late') {
      if (request.httpVersionMajor < 2) response.setHeader('connection', 'close');
      if (fault === 'late') refuse(response, 408, 'body-timeout', 'The body has not arrived in time.');
      else refuse(response, 413, 'too-long', `A message must have at most ${maxMessageBytes} bytes.`);
    }
    if (fault !== undefined) return;
    const text = textOfBytes(bytes);
    if (text === null) {
      refuse(response, 400, 'not-json', 'The body is not UTF-8.');
      return;
    }
    const outline = outlineOf(text);
    if (outline === null) refuse(response, 400, 'not-json', 'The body is not JSON.');
    else if (outline.kind === 'batch' && !allowBatches) refuse(response, 501, 'batch', 'Send messages one by one.');
    else if (outline.kind === 'invalid') refuse(response, 400, 'not-a-message', 'The body is not a JSON-RPC message.');
    else if (outline.kind === 'request' && outline.method === 'initialize')
      await this.#initialize(response, headers, text, outline.id!);
    else {
      const connection = this.#connectionOf(response, headers);
      if (connection !== null) await this.#forward(connection, response, headers, text, outline);
    }
  }

  async #forward(
    connection: ServerConnection,
    response: AnyResponse,
    headers: IncomingHttpHeaders,
    text: string,
    outline: Outline,
  ): Promise<void> {
    const session = sessionOf(response, headers);
    if (session === null) return;
    const refused = connection.check(outline, session);
    if (refused === 'no-session')
      refuse(response, 400, refused, 'The message belongs to a session, which Acp-Session-Id must name.');
    else if (refused !== null) refuse(response, 400, refused, 'Acp-Session-Id names another session than the message.');
    else if (await connection.post(text, outline, session)) replyEmpty(response, 202);
    else refuseUnknown(response);
  }

  async #initialize(response: AnyResponse, headers: IncomingHttpHeaders, text: string, id: Id): Promise<void> {
    if (headers[CONNECTION_HEADER] !== undefined) {
      refuse(response, 400, 'initialized', 'The connection is initialized; a new one has no Acp-Connection-Id.');
      return;
    }
    if (this.connections() >= this.#settings.maxConnections) {
      refuse(response, 503, 'too-many-connections', 'The server has too many connections.');
      return;
    }
    const connection = this.#create(this.#settings.resumable && headers[RESUMABLE_HEADER] === '1');
    const answered = connection.initialize(text, id);
    const stop = after(this.#settings.initializeTimeoutMs, () => connection.destroy());
    response.once('close', () => {
      if (!response.writableFinished) connection.destroy();
    });
    try {
      await this.#onConnection(connection, { id: connection.id, transport: 'http' });
    } catch (thrown) {
      this.#settings.reportError(thrown);
      connection.destroy();
      stop();
      refuse(response, 502, 'no-agent', 'The agent could not be started.');
      return;
    }
    const answer = await answered;
    stop();
    if (response.destroyed) return;
    if (answer === null) {
      refuse(response, 502, 'agent-ended', 'The agent ended, or did not answer in time.');
      return;
    }
    response.setHeader(CONNECTION_HEADER, connection.id);
    if (connection.isResumable) response.setHeader(RESUMABLE_HEADER, '1');
    if (this.#settings.affinityCookie !== undefined) response.setHeader('set-cookie', this.#settings.affinityCookie);
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
    if (!accepts(headers.accept)) {
      refuse(response, 406, 'not-acceptable', `Accept must include ${EVENT_STREAM}.`);
      return;
    }
    const connection = this.#connectionOf(response, headers);
    const session = connection === null ? null : sessionOf(response, headers);
    if (connection === null || session === null) return;
    const last = headers[LAST_EVENT_HEADER];
    if (last !== undefined && !(connection.isResumable && /^[0-9]{1,15}$/.test(String(last)))) {
      refuse(response, 400, 'unknown-event', 'Last-Event-ID is not that of an event of this stream.');
      return;
    }
    const sink = sinkOf(response);
    const attached = connection.attach(session, sink, last === undefined ? undefined : Number(last));
    switch (attached) {
      case 'attached':
        response.once('close', () => connection.detach(session, sink));
        response.on('drain', () => connection.pump(session));
        response.writeHead(200, { 'content-type': EVENT_STREAM, 'cache-control': 'no-store' });
        // So that the client sees the headers before the first event.
        sink.write(KEEP_ALIVE_COMMENT, () => connection.pump(session));
        connection.pump(session);
        break;
      case 'busy':
        refuse(response, 409, attached, 'The stream has a reader.');
        break;
      case 'events-lost':
        refuse(response, 410, attached, 'Events after Last-Event-ID are no longer kept.');
        break;
      case 'unknown-event':
        refuse(response, 400, attached, 'Last-Event-ID is not that of an event of this stream.');
        break;
      default:
        refuse(response, 503, attached, 'The connection has too many sessions.');
    }
  }

  #delete(response: AnyResponse, headers: IncomingHttpHeaders): void {
    const connection = this.#connectionOf(response, headers);
    if (connection === null) return;
    connection.terminate();
    replyEmpty(response, 202);
  }

  #connectionOf(response: AnyResponse, headers: IncomingHttpHeaders): ServerConnection | null {
    const id = headers[CONNECTION_HEADER];
    const connection = this.#connections.get(String(id));
    if (id === undefined) refuse(response, 400, 'no-connection', 'Acp-Connection-Id is missing.');
    else if (connection === undefined) refuseUnknown(response);
    return connection ?? null;
  }

  readonly #upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
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
      const channel = acceptWebSocket(webSocket, { maxMessageBytes, keepAliveMs });
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
    if (!isWebSocketUpgrade(request)) return 400;
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
    const stopGrace = after(this.#settings.closeGraceMs, () => destroyAll(channels));
    await Promise.all(channels.map((channel) => channel.end()));
    stopGrace();
    // The ends of the streams are written in the next iteration of the event loop.
    setImmediate(this.#http.destroy);
    await closed;
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

/** Returns the headers; HTTP/2 has the host in `:authority` (RFC 9113, section 8.3.1). */
function headersOf({ headers }: AnyRequest): IncomingHttpHeaders {
  const authority = headers[':authority'] as string | undefined;
  return authority === undefined ? headers : { ...headers, host: authority };
}

function pathOf({ url = '/' }: AnyRequest): string {
  return url.replace(/[?#].*$/s, '');
}

/** Returns the session in the headers. @returns `null` if it was refused */
function sessionOf(response: AnyResponse, headers: IncomingHttpHeaders): string | undefined | null {
  const session = headers[SESSION_HEADER];
  if (session === undefined) return undefined;
  if (typeof session === 'string' && session !== '' && session.length <= MAX_SESSION_ID) return session;
  refuse(response, 400, 'wrong-session', `Acp-Session-Id must have 1 to ${MAX_SESSION_ID} characters.`);
  return null;
}

function refuseUnknown(response: AnyResponse): void {
  refuse(response, 404, 'unknown-connection', 'The connection is unknown, or has ended.');
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
  response.setHeader('access-control-expose-headers', `${CONNECTION_HEADER}, ${RESUMABLE_HEADER}`);
  response.setHeader('vary', 'origin');
}

function allowMethods(response: AnyResponse): void {
  const headers = [CONNECTION_HEADER, SESSION_HEADER, RESUMABLE_HEADER, LAST_EVENT_HEADER];
  response.setHeader('access-control-allow-methods', METHODS);
  response.setHeader('access-control-allow-headers', ['authorization', 'content-type', ...headers].join(', '));
  response.setHeader('access-control-max-age', '600');
  replyEmpty(response, 204);
}

/** Adds the identifier of the connection to the result of `initialize`, whose other members stay as they are written. */
function withConnectionId(text: string, id: string): string {
  const { result } = JSON.parse(text) as { readonly result?: unknown };
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return text;
  if (Object.hasOwn(result, 'connectionId')) return text;
  return JSON.stringify({ ...(JSON.parse(text) as object), result: { ...result, connectionId: id } });
}
