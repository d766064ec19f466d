import { notifyListener } from '../../../async/listeners.js';
import { cancelBody, isUtf8Type, readBytes } from '../../../channels/body.js';
import { textOfBytes } from '../../../channels/media-type.js';
import { asciiLowerCase, withoutBlanks } from '../../../text/ascii.js';
import type { Dispatcher } from '../../dispatch/dispatcher.js';
import { type AnswerReason, type BindingReason, type PacketAnswer, refusedAnswer } from '../answer.js';
import { checkDispatcher, type DeliveryOptions, deliver, PACKET_TYPE, type Sender } from '../deliver.js';
import { envelopeIn, HASH_HEADER, PACKETS_PATH, PROBLEM_TYPE, WARNINGS_HEADER } from './headers.js';

/** Options of {@link createPacketHandler}. */
export interface PacketHandlerOptions extends DeliveryOptions {
  /** The whole path, including the mount point of a framework. @default '/aacp/v1/packets' */
  readonly path?: string | undefined;
  /** The maximum size of a packet, in bytes; longer bodies are not read to the end. @default 1048576 */
  readonly maxPacketBytes?: number | undefined;
  /**
   * Returns the sender of a request; `null` refuses it with 401, a `Response` answers it. It must not read the body. If it throws, the answer is 500.
   * @default every client is accepted, without a name
   */
  readonly authenticate?:
    | ((request: Request) => Sender | Response | null | Promise<Sender | Response | null>)
    | undefined;
}

/**
 * Creates a function from web-standard requests to responses that passes the packet of each POST to a dispatcher. It never rejects. The body
 * must be exactly one packet, which one line end may follow; the body of the request must not have been read.
 *
 * The status is 200 with the packet or the JSON value that the handler returned, and 204 if it returned `undefined`. Refusals are of the type
 * `application/problem+json`, with the `reason` and the findings of the validator. Of an error that a handler throws, only the code is sent.
 *
 * Source: draft-mackay-aacp-01, sections 7, 11 and 15.
 *
 * @throws TypeError if an option is invalid
 * @example
 * http.createServer(createRequestListener(createPacketHandler(dispatcher))).listen(8080);
 */
export function createPacketHandler(
  dispatcher: Dispatcher<unknown>,
  options: PacketHandlerOptions = {},
): (request: Request) => Promise<Response> {
  checkDispatcher(dispatcher);
  const { path = PACKETS_PATH, maxPacketBytes = 2 ** 20, authenticate, onError } = options;
  if (!path.startsWith('/')) throw new TypeError(`path must begin with "/"; got "${path}"`);
  if (!(maxPacketBytes >= 1)) throw new TypeError(`maxPacketBytes must be a number >= 1; got ${maxPacketBytes}`);
  if (authenticate !== undefined && typeof authenticate !== 'function')
    throw new TypeError('authenticate must be a function');

  return async (request) => {
    const { headers, body } = request;
    const refuse = (response: Response): Response => {
      if (body !== null && !body.locked) cancelBody(body);
      return response;
    };
    const early = headRefusal(request, path);
    if (early !== null) return refuse(early);
    let sender: Sender | Response | null | undefined;
    try {
      sender = await authenticate?.(request);
    } catch (thrown) {
      notifyListener(() => onError?.(thrown, ''));
      return refuse(plain(500));
    }
    if (sender === null) return refuse(problem(refusedAnswer('unauthenticated')));
    if (sender instanceof Response) return refuse(sender);
    if (request.bodyUsed) {
      notifyListener(() => onError?.(new TypeError('The body of the request was read before'), ''));
      return plain(500);
    }
    const packet = await readPacket(request, maxPacketBytes);
    if (typeof packet !== 'string') return refuse(problem(refusedAnswer(packet.reason)));
    const context = { actor: sender?.actor, data: sender?.data, envelope: envelopeIn(headers) };
    return responseOf(await deliver(dispatcher, packet, context, { onError }));
  };
}

/** Returns the response to a request whose head is unacceptable; otherwise `null`. */
function headRefusal({ url, method, headers }: Request, path: string): Response | null {
  if (new URL(url).pathname !== path) return plain(404);
  if (method !== 'POST') return plain(405, { allow: 'POST' });
  if (!isUtf8Type(headers.get('content-type'), PACKET_TYPE)) return plain(415, { accept: PACKET_TYPE });
  const coding = headers.get('content-encoding');
  if (coding !== null && asciiLowerCase(withoutBlanks(coding)) !== 'identity')
    return plain(415, { 'accept-encoding': 'identity' });
  return isAcceptable(headers.get('accept')) ? null : plain(406);
}

const ANSWER_TYPES: ReadonlySet<string> = new Set(['*/*', 'application/*', PACKET_TYPE, 'application/json']);

/** Tests whether the client accepts one of the media types of answers. */
function isAcceptable(accept: string | null): boolean {
  if (accept === null || withoutBlanks(accept) === '') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => asciiLowerCase(withoutBlanks(part)));
    return ANSWER_TYPES.has(type) && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/** Bytes of the line end that may follow the packet. */
const LINE_END_BYTES = 2;

async function readPacket(
  { body, headers }: Request,
  maxBytes: number,
): Promise<string | { readonly reason: BindingReason }> {
  if (body === null) return { reason: 'no-packet' };
  if (Number(headers.get('content-length') ?? 0) > maxBytes + LINE_END_BYTES) return { reason: 'too-large' };
  let bytes: Uint8Array | null;
  try {
    bytes = await readBytes(body.getReader(), maxBytes + LINE_END_BYTES);
  } catch {
    return { reason: 'truncated' };
  }
  if (bytes === null) return { reason: 'too-large' };
  const text = textOfBytes(bytes);
  if (text === null) return { reason: 'not-utf8' };
  const packet = text.replace(/\r?\n$/, '');
  if (packet === '') return { reason: 'no-packet' };
  return bytes.length - (text.length - packet.length) > maxBytes ? { reason: 'too-large' } : packet;
}

/** The status of each refusal. */
const STATUS: Readonly<Record<AnswerReason, number>> = {
  invalid: 422,
  'several-lines': 422,
  'hidden-character': 422,
  'surrounding-text': 422,
  'no-handler': 501,
  'no-audit': 503,
  'no-verdict': 503,
  failed: 500,
  'no-envelope': 400,
  'bad-envelope': 400,
  'too-old': 409,
  'too-new': 409,
  repeated: 409,
  'guard-full': 503,
  'no-packet': 400,
  'not-utf8': 400,
  truncated: 400,
  'too-large': 413,
  unauthenticated: 401,
  'bad-answer': 500,
  cancelled: 503,
};

const NO_STORE = { 'cache-control': 'no-store' };

function plain(status: number, more: Record<string, string> = {}): Response {
  return new Response(null, { status, headers: { ...NO_STORE, ...more } });
}

function responseOf(answer: PacketAnswer): Response {
  if (!answer.ok) return problem(answer);
  const { hash, warnings, packet, value } = answer;
  const headers: Record<string, string> = { ...NO_STORE, [HASH_HEADER]: hash };
  if (warnings.length > 0) headers[WARNINGS_HEADER] = warnings.join(', ');
  if (packet !== undefined)
    return new Response(packet, { status: 200, headers: { ...headers, 'content-type': PACKET_TYPE } });
  if (value === undefined) return new Response(null, { status: 204, headers });
  return new Response(JSON.stringify(value), {
    status: 200,
    headers: { ...headers, 'content-type': 'application/json' },
  });
}

function problem(answer: PacketAnswer & { readonly ok: false }): Response {
  const status = STATUS[answer.reason as AnswerReason];
  const headers: Record<string, string> = { ...NO_STORE, 'content-type': PROBLEM_TYPE };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  return new Response(JSON.stringify({ type: 'about:blank', title: answer.message, status, ...answer }), {
    status,
    headers,
  });
}
