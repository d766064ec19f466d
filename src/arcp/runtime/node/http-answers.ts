/** Answers of the HTTP listener. */
import type { HttpRefusal } from '../../../channels/node/refuse.js';

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
