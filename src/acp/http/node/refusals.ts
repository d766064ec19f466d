import { EVENT_STREAM } from '../../../channels/event-stream.js';
import type { HttpRefusal } from '../../../channels/node/refuse.js';
import { JSON_TYPE, MAX_SESSION_ID } from '../protocol.js';

/** The methods of the endpoint. */
export const METHODS = 'POST, GET, DELETE, OPTIONS';

const LATER = { 'retry-after': '1' };

/**
 * The refusals of the server, by their codes. ERRORS.md has a section for each.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport", "Content Negotiation and Validation".
 */
export const REFUSALS = {
  'wrong-host': [403, 'The host name of the request is not one of this server'],
  'wrong-origin': [403, 'Pages of this origin are not allowed'],
  'wrong-token': [401, 'The bearer token is missing or wrong', { 'www-authenticate': 'Bearer' }],
  'unknown-path': [404, 'There is nothing at this path'],
  'unknown-method': [405, `The methods of this path are ${METHODS}`, { allow: METHODS }],
  'http2-required': [505, 'Messages and streams require HTTP/2; otherwise open a WebSocket'],
  closing: [503, 'The server is closing', LATER],
  'unsupported-media-type': [415, `The body must be ${JSON_TYPE}`, { 'accept-post': JSON_TYPE }],
  'body-timeout': [408, 'The body has not arrived in time'],
  'too-long': [413, 'The message is too long'],
  'not-json': [400, 'The body is not JSON in UTF-8'],
  'not-a-message': [400, 'The body is not a message of JSON-RPC 2.0'],
  batch: [501, 'Batches are not accepted; send each message in a request of its own'],
  initialized: [400, 'The connection is initialized; a new one is opened without Acp-Connection-Id'],
  'no-connection': [400, 'The header Acp-Connection-Id is missing'],
  'unknown-connection': [404, 'There is no connection with this id, or it has ended'],
  'no-session': [400, 'The message belongs to a session, which the header Acp-Session-Id must name'],
  'other-session': [400, 'Acp-Session-Id names another session than the message'],
  'wrong-session': [400, `Acp-Session-Id must have 1 to ${MAX_SESSION_ID} printable ASCII characters`],
  'long-id': [400, 'The id of the request is too long'],
  'too-many-requests': [503, 'The agent has as many unanswered requests of the connection as it may have', LATER],
  'too-many-connections': [503, 'The server has as many connections as it may have', LATER],
  'too-many-sessions': [503, 'The connection has as many streams of sessions as it may have', LATER],
  'no-agent': [502, 'The agent could not be started'],
  'agent-ended': [502, 'The agent ended, or did not answer initialize in time'],
  'not-acceptable': [406, `GET opens a stream; the request must have the header "Accept: ${EVENT_STREAM}"`],
  busy: [409, 'The stream is open already'],
  'unknown-event': [400, 'Last-Event-ID is not the id of an event of this stream'],
  'events-lost': [410, 'Events after Last-Event-ID are no longer kept'],
  internal: [500, 'The server failed'],
} as const satisfies Readonly<
  Record<string, readonly [status: number, message: string, headers?: Readonly<Record<string, string>>]>
>;

/** The code of a refusal. */
export type RefusalCode = keyof typeof REFUSALS;

/** Returns the refusal with a code. */
export function refusalOf(code: RefusalCode): HttpRefusal {
  const [status, message, headers] = REFUSALS[code] as readonly [number, string, Readonly<Record<string, string>>?];
  return { status, code, message, headers };
}

/** Thrown while a request is handled, to refuse it. */
export class RequestRefused extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode) {
    super(code);
    this.code = code;
  }
}
