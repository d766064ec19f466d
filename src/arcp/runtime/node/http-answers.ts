/** Answers of the HTTP listener. */
import { afterUnref } from '../../../async/timers.js';
import type { AnyRequest, AnyResponse } from '../../../channels/node/http-server.js';

/** A refused request: a status and a code that stays the same between versions. */
export interface HttpRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The refusals of the listener. The codes are in the body: `{"error": {"code", "message"}}`. */
export const REFUSALS = {
  host: { status: 403, code: 'host', message: 'The host name of the request is not one of this server' },
  origin: { status: 403, code: 'origin', message: 'Pages of this origin are not allowed' },
  token: {
    status: 401,
    code: 'token',
    message: 'The bearer token is missing or wrong',
    headers: { 'www-authenticate': 'Bearer' },
  },
  path: { status: 404, code: 'not-found', message: 'There is nothing at this path' },
  connection: {
    status: 404,
    code: 'no-connection',
    message: 'There is no connection with this id; open an event stream with GET',
  },
  method: {
    status: 405,
    code: 'method-not-allowed',
    message: 'The methods of this path are GET, POST, DELETE and OPTIONS',
    headers: { allow: 'GET, POST, DELETE, OPTIONS' },
  },
  accept: {
    status: 406,
    code: 'not-acceptable',
    message: 'GET opens an event stream; the request must have the header "Accept: text/event-stream"',
  },
  sequence: { status: 400, code: 'invalid-sequence', message: 'The sequence number must be an integer from 1' },
  body: { status: 400, code: 'incomplete-body', message: 'The body is incomplete' },
  bodyTimeout: { status: 408, code: 'body-timeout', message: 'The body has not arrived in time' },
  tooLong: { status: 413, code: 'too-long', message: 'The body is too long' },
  mediaType: {
    status: 415,
    code: 'unsupported-media-type',
    message: 'The body must be application/json or application/x-ndjson; without a connection id, application/x-ndjson',
    headers: { 'accept-post': 'application/json, application/x-ndjson' },
  },
  tooEarly: {
    status: 429,
    code: 'too-early',
    message: 'Too many requests wait for an earlier one; repeat this one later',
    headers: { 'retry-after': '1' },
  },
  connections: {
    status: 503,
    code: 'too-many-connections',
    message: 'The server has as many connections as it may have',
    headers: { 'retry-after': '5' },
  },
} as const satisfies Readonly<Record<string, HttpRefusal>>;

/** Refuses HTTP/1.1 for a duplex connection (RFC 9110, section 15.5.22). */
export function upgradeRequired(isEncrypted: boolean): HttpRefusal {
  return {
    status: 426,
    code: 'upgrade-required',
    message:
      'A duplex stream requires HTTP/2. Over HTTP/1.1, open an event stream (GET with "Accept: text/event-stream") and send messages with POST, or use a WebSocket listener',
    headers: { upgrade: isEncrypted ? 'HTTP/2.0' : 'h2c', connection: 'upgrade' },
  };
}

/** Milliseconds for the rest of the body of a refused request. */
const LINGER_MS = 2000;

/** Sends a refusal. HTTP/2 has no headers of a connection. */
export function refuse(request: AnyRequest, response: AnyResponse, refusal: HttpRefusal): void {
  const { status, code, message, headers = {} } = refusal;
  const isHttp2 = request.httpVersionMajor === 2;
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers))
    if (!(isHttp2 && (name === 'connection' || name === 'upgrade'))) response.setHeader(name, value);
  response.setHeader('cache-control', 'no-store');
  response.setHeader('content-type', 'application/json');
  const answer = (): void => void response.end(`${JSON.stringify({ error: { code, message } })}\n`);
  request.resume();
  if (request.complete || isHttp2 || status === 426) {
    answer();
    return;
  }
  // The rest of the body is discarded. A connection that is closed before it has arrived is reset, and the client loses the answer.
  response.setHeader('connection', 'close');
  const cancel = afterUnref(LINGER_MS, answer);
  request.once('end', () => {
    cancel();
    answer();
  });
}
