// biome-ignore-all lint/correctness/noNodejsModules: listening needs Node
/**
 * An HTTP listener for runtimes (spec 003, "Transports"). One path serves two transports: a duplex stream of HTTP/2, and server-sent events with
 * POST for clients and proxies that know no duplex.
 */
import { randomBytes } from 'node:crypto';
import type { Writable } from 'node:stream';
import { assertDurations } from '../../../async/durations.js';
import { notifyListener } from '../../../async/listeners.js';
import type { Channel } from '../../../channels/channel.js';
import { channelHeaders, EVENT_STREAM } from '../../../channels/event-stream.js';
import { isMediaType } from '../../../channels/media-type.js';
import { eventStreamChannel, type Inbox } from '../../../channels/node/event-stream-channel.js';
import {
  type AnyRequest,
  type AnyResponse,
  httpServer,
  REQUEST_TIMEOUT_MS,
  type TlsIdentity,
} from '../../../channels/node/http-server.js';
import { http2Channel, NDJSON } from '../../../channels/node/http2.js';
import { type Admission, HEALTH_PATH, listenOn, toOriginForm } from '../../../channels/node/listen.js';
import { refuse } from '../../../channels/node/refuse.js';
import { readRequestBody } from '../../../channels/node/request-body.js';
import type { Runtime } from '../runtime.js';
import { answerHealth, type Endpoint, type EndpointOptions, endpointOf, peerOf } from './endpoint.js';
import { REFUSALS, upgradeRequired } from './http-answers.js';
import { linesOf } from './http-body.js';
import { eventId, resumesAfter } from './last-event.js';

/** Options of an HTTP listener. Without `tls`, an address other than the loopback requires `insecure`. */
export interface ListenHttpOptions extends EndpointOptions {
  /** The key and the certificate, in PEM. @default none: HTTP/1.1 and HTTP/2 by prior knowledge, without encryption */
  readonly tls?: TlsIdentity | undefined;
  /** Milliseconds for the body of a request; that of a duplex stream has no limit. @default 60_000 */
  readonly requestTimeoutMs?: number | undefined;
}

/** An HTTP listener. */
export interface HttpListener {
  /** The URL of the endpoint: `http://127.0.0.1:7777/arcp`. */
  readonly url: string;
  /** The address on which the server accepts connections. */
  readonly host: string;
  /** The port on which the server accepts connections, never 0. */
  readonly port: number;
  /** Stops listening, and tells the clients of HTTP/2. Resolves when all connections have ended; open ones stay open. */
  readonly close: () => Promise<void>;
}

/**
 * Listens for HTTP/2 and HTTP/1.1. On the loopback, the host name must be one of this machine. Pages of other origins are refused.
 *
 * - POST of `application/x-ndjson` over HTTP/2, both directions open: one envelope per line
 * - GET with `Accept: text/event-stream`, and POST with the header `Arcp-Connection-Id` of the first event: one envelope per event, and one
 *   (`application/json`) or several (`application/x-ndjson`) per request
 *
 * @throws ServeError if it cannot listen, or the address is public and there is no token or no certificate
 * @throws TypeError if an option is invalid
 */
export async function listenHttp(runtime: Runtime, options: ListenHttpOptions = {}): Promise<HttpListener> {
  const { tls, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  assertDurations({ requestTimeoutMs });
  const endpoint = { ...endpointOf(options), requestTimeoutMs };
  const isEncrypted = tls !== undefined;
  let close!: () => Promise<void>;
  const bound = await listenOn({ ...endpoint, isEncrypted }, (admission) => {
    const { request } = new HttpEndpoint(runtime, admission, endpoint, isEncrypted);
    // An event stream over HTTP/1.1 has a second connection for its requests, and refusals need some.
    const maxConnections = 2 * endpoint.maxConnections + SPARE_CONNECTIONS;
    const made = httpServer({ tls, maxConnections, requestTimeoutMs }, request);
    close = made.close;
    return made.server;
  });
  return {
    url: `${isEncrypted ? 'https' : 'http'}://${bound.authority}${endpoint.path}`,
    host: bound.host,
    port: bound.port,
    close,
  };
}

const HEADERS = channelHeaders('arcp');
/** TCP connections besides those of connections of the protocol. */
const SPARE_CONNECTIONS = 64;
/** Bytes of a body besides the longest message: line ends, and messages that share a request. */
const BODY_MARGIN = 1024 * 1024;

/** A connection over an event stream. */
interface EventConnection {
  readonly inbox: Inbox;
  /** `true` if the event stream was opened with the token, which all requests must then have. */
  readonly needsToken: boolean;
}

/** The settings of a listener. */
interface HttpSettings extends Endpoint {
  readonly requestTimeoutMs: number;
}

class HttpEndpoint {
  readonly #runtime: Runtime;
  readonly #admission: Admission;
  readonly #endpoint: HttpSettings;
  readonly #isEncrypted: boolean;
  readonly #events = new Map<string, EventConnection>();
  #connections = 0;

  constructor(runtime: Runtime, admission: Admission, endpoint: HttpSettings, isEncrypted: boolean) {
    this.#runtime = runtime;
    this.#admission = admission;
    this.#endpoint = endpoint;
    this.#isEncrypted = isEncrypted;
  }

  readonly request = (request: AnyRequest, response: AnyResponse): void => {
    // Errors of a client that goes away.
    request.on('error', () => {});
    response.on('error', () => {});
    const { headers } = request;
    if ('stream' in request) headers.host = request.authority;
    else toOriginForm(request);
    const refusal = this.#admission.checkNames(headers);
    if (refusal !== null) {
      refuse(request, response, refusal.reason === 'host' ? REFUSALS.host : REFUSALS.origin);
      return;
    }
    allowOrigin(request, response);
    const path = (request.url ?? '/').replace(/\?.*$/s, '');
    if (path === HEALTH_PATH && (request.method === 'GET' || request.method === 'HEAD'))
      answerHealth(this.#runtime, response);
    else if (path !== this.#endpoint.path) {
      if (this.#endpoint.pages?.(request, response) !== true) refuse(request, response, REFUSALS.path);
    } else if (request.method === 'OPTIONS') answerEmpty(response, 204);
    else if (this.#admission.showsToken(headers, false) && this.#admission.checkToken(headers, false) !== null)
      refuse(request, response, REFUSALS.token);
    else this.#route(request, response);
  };

  #route(request: AnyRequest, response: AnyResponse): void {
    const { method, headers } = request;
    const id = headers[HEADERS.connectionId];
    if (method === 'GET') this.#openEvents(request, response);
    else if (method === 'POST' && id === undefined) this.#openDuplex(request, response);
    else if (method === 'POST' || method === 'DELETE') {
      const connection = this.#events.get(String(id));
      if (connection === undefined) refuse(request, response, REFUSALS.connection);
      else if (connection.needsToken && this.#admission.checkToken(headers, false) !== null)
        refuse(request, response, REFUSALS.token);
      else if (method === 'DELETE') {
        connection.inbox.end();
        answerEmpty(response, 204);
      } else void this.#post(request, response, connection);
    } else refuse(request, response, REFUSALS.method);
  }

  #openDuplex(request: AnyRequest, response: AnyResponse): void {
    const isNdjson = isMediaType(request.headers['content-type'], NDJSON);
    if (!('stream' in response)) refuse(request, response, upgradeRequired(this.#isEncrypted));
    else if (!isNdjson) refuse(request, response, REFUSALS.mediaType);
    else if (this.#isFull) refuse(request, response, REFUSALS.connections);
    else {
      response.writeHead(200, { 'content-type': NDJSON, 'cache-control': 'no-store' });
      const { maxMessageBytes: maxLineBytes } = this.#endpoint;
      this.#accept(http2Channel(response.stream, { maxLineBytes }), request, 'http2');
    }
  }

  #openEvents(request: AnyRequest, response: AnyResponse): void {
    const { headers } = request;
    if (!accepts(headers.accept, EVENT_STREAM)) {
      const isHttp2 = 'stream' in response;
      refuse(request, response, isHttp2 ? REFUSALS.accept : upgradeRequired(this.#isEncrypted));
      return;
    }
    if (this.#isFull) {
      refuse(request, response, REFUSALS.connections);
      return;
    }
    const id = randomBytes(24).toString('base64url');
    response.writeHead(200, {
      'content-type': EVENT_STREAM,
      'cache-control': 'no-store, no-transform',
      // Asks nginx not to buffer.
      'x-accel-buffering': 'no',
      [HEADERS.connectionId]: id,
    });
    const output: Writable = 'stream' in response ? response.stream : response;
    if (!('stream' in response)) response.socket?.setNoDelay(true);
    const { maxMessageBytes: maxLineBytes } = this.#endpoint;
    const { channel, inbox } = eventStreamChannel(output, id, { maxLineBytes, idOf: eventId });
    const needsToken = this.#endpoint.token !== undefined && this.#admission.checkToken(headers, false) === null;
    this.#events.set(id, { inbox, needsToken });
    output.once('close', () => this.#events.delete(id));
    const last = headers['last-event-id'];
    this.#accept(typeof last === 'string' && last !== '' ? resumesAfter(channel, last) : channel, request, 'sse');
  }

  async #post(request: AnyRequest, response: AnyResponse, { inbox }: EventConnection): Promise<void> {
    const { headers } = request;
    const isJson = isMediaType(headers['content-type'], 'application/json');
    const given = headers[HEADERS.sequence];
    const sequence = given === undefined ? undefined : Number(given);
    if (!isJson && !isMediaType(headers['content-type'], NDJSON)) refuse(request, response, REFUSALS.mediaType);
    else if (sequence !== undefined && !(Number.isSafeInteger(sequence) && sequence >= 1))
      refuse(request, response, REFUSALS.sequence);
    else {
      const margin = isJson ? 2 : BODY_MARGIN;
      const release = inbox.reserve(sequence, lengthOf(request, this.#endpoint.maxMessageBytes + margin));
      if (release === undefined) refuse(request, response, REFUSALS.tooEarly);
      else await this.#take(request, response, inbox, { sequence, margin, isJson }).finally(release);
    }
  }

  async #take(
    request: AnyRequest,
    response: AnyResponse,
    inbox: Inbox,
    {
      sequence,
      margin,
      isJson,
    }: { readonly sequence: number | undefined; readonly margin: number; readonly isJson: boolean },
  ): Promise<void> {
    const { maxMessageBytes, requestTimeoutMs } = this.#endpoint;
    const body = await readRequestBody(request, maxMessageBytes + margin, requestTimeoutMs);
    if (body.fault === 'cut') return refuse(request, response, REFUSALS.body);
    if (body.fault === 'late') return refuse(request, response, REFUSALS.bodyTimeout);
    const lines = linesOf(body, maxMessageBytes, isJson);
    if (lines === undefined) refuse(request, response, REFUSALS.tooLong);
    else {
      const isTaken = inbox.take(lines, sequence);
      // The channel answers the beginning of a message that is too long, and ends.
      if (body.fault === 'too-long') refuse(request, response, REFUSALS.tooLong);
      else if (await isTaken) answerEmpty(response, 202);
      else refuse(request, response, REFUSALS.connection);
    }
  }

  get #isFull(): boolean {
    return this.#connections >= this.#endpoint.maxConnections;
  }

  #accept(channel: Channel, request: AnyRequest, kind: string): void {
    this.#connections++;
    const needsToken = this.#admission.checkToken(request.headers, false) !== null;
    const peer = { kind, address: request.socket.remoteAddress };
    this.#runtime
      .accept(channel, peerOf(this.#admission, channel, peer, needsToken))
      .catch((error: unknown) => notifyListener(() => this.#endpoint.onError?.(error)))
      .finally(() => {
        this.#connections--;
      });
  }
}

/** Returns the length of a body, or the part of it that is read at most. */
function lengthOf({ headers }: AnyRequest, max: number): number {
  const declared = headers['content-length'];
  return declared === undefined ? max : Math.min(Number(declared), max);
}

function answerEmpty(response: AnyResponse, status: number): void {
  response.statusCode = status;
  response.setHeader('cache-control', 'no-store');
  response.end();
}

/** Returns whether a list of media ranges contains a type, or all types of its kind. */
function accepts(accept: string | undefined, type: string): boolean {
  return accept?.split(',').some((range) => isMediaType(range, type)) === true;
}

/** Seconds for which browsers may remember the answer of a preflight request. */
const MAX_AGE = '600';

/** Lets pages of the origin, which has been checked, read the response (WHATWG Fetch, section 3.3). */
function allowOrigin({ method, headers }: AnyRequest, response: AnyResponse): void {
  const { origin } = headers;
  response.setHeader('vary', 'origin');
  if (origin === undefined) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', HEADERS.connectionId);
  if (method !== 'OPTIONS') return;
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE');
  const allowed = ['authorization', 'content-type', 'last-event-id', HEADERS.connectionId, HEADERS.sequence];
  response.setHeader('access-control-allow-headers', allowed.join(', '));
  response.setHeader('access-control-max-age', MAX_AGE);
}
