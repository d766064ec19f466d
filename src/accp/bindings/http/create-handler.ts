import { notifyListener } from '../../../async/listeners.js';
import { cancelBody } from '../../../channels/body.js';
import { asciiLowerCase, withoutBlanks } from '../../../text/ascii.js';
import type { AccpErrorCode } from '../../errors.js';
import { checkAgentName } from '../../session/envelope.js';
import type { Endpoint } from '../endpoint.js';
import { BINDING_AGENT, bareErrorFrame } from '../error-frame.js';
import { FramingError } from '../frame-splitter.js';
import {
  EventLoopYield,
  FRAME_TYPE,
  type FrameAnswer,
  type FrameHandler,
  hasErrorSchema,
  MAX_FRAME_BYTES,
  readHead,
} from '../frames.js';
import { hasFrameMediaType, isFrameType, readFrameBody } from './body.js';

/** The default path of frames (section 11.1). */
export const FRAMES_PATH = '/accp/v1/frames';

/** Options of {@link createHandler}. */
export interface HandlerOptions {
  /** The whole path, including the mount point of a framework. @default '/accp/v1/frames' */
  readonly path?: string | undefined;
  /** The maximum size of a frame, in bytes; longer bodies are not read to the end. @default 1048576 */
  readonly maxFrameBytes?: number | undefined;
  /** The agent of error frames that the binding itself sends. @default 'accp' */
  readonly agent?: string | undefined;
  /** Called with the exceptions of the handler and of its streams: the client gets E9999 only. */
  readonly onError?: ((thrown: unknown, frame: string) => void) | undefined;
}

/**
 * Creates a function from web-standard requests to responses, for any server that supports these. It never rejects. The body of the request
 * must not have been read.
 *
 * The status is 200 with an answer, 400 with a frame of schema ER, and 204 without an answer; 404, 405, 413 and 415 for other requests, with an
 * error frame if the request names the media type of frames. A stream is sent as one frame and a line end per chunk, no faster than it is
 * read; its first frame decides the status. Authenticate clients, and check the origin of web pages, in front of the handler.
 *
 * Source: draft-benzing-accp-00, section 11.1.
 *
 * @throws TypeError if an option is invalid
 * @example
 * http.createServer(createRequestListener(createHandler(endpoint))).listen(8080);
 */
export function createHandler(
  handle: FrameHandler | Endpoint,
  options: HandlerOptions = {},
): (request: Request) => Promise<Response> {
  const settings = resolve(handle, options);
  return async (request) => {
    const refusal = refuse(request, settings);
    if (refusal !== null) {
      if (request.body !== null) cancelBody(request.body);
      return refusal;
    }
    let frame: string;
    try {
      frame = await readFrameBody(request.body, settings.maxFrameBytes, request.headers.get('content-length'));
    } catch (thrown) {
      // The body was read before.
      if (!(thrown instanceof FramingError)) {
        reportError(settings, thrown, '');
        return errorResponse(500, 'E9999', 'The frame could not be read.', settings);
      }
      return errorResponse(thrown.code === 'too-large' ? 413 : 400, 'E1001', thrown.message, settings);
    }
    if (frame === '') return errorResponse(400, 'E1001', 'The body is empty.', settings);
    if (FRAME_BOUNDARY.test(frame)) return errorResponse(400, 'E1001', 'The body must be exactly one frame.', settings);
    return answer(request, frame, settings);
  };
}

type Settings = ReturnType<typeof resolve>;

function resolve(handle: FrameHandler | Endpoint, options: HandlerOptions) {
  const { path = FRAMES_PATH, maxFrameBytes = MAX_FRAME_BYTES, agent = BINDING_AGENT, onError } = options;
  const handler = typeof handle === 'function' ? handle : handle?.handler;
  if (typeof handler !== 'function') throw new TypeError('The handler must be an endpoint or a function');
  checkPath(path);
  if (!(maxFrameBytes >= 1)) throw new TypeError(`maxFrameBytes must be a number >= 1; got ${maxFrameBytes}`);
  return { handle: handler, path, maxFrameBytes, agent: checkAgentName(agent), onError };
}

function reportError({ onError }: Settings, thrown: unknown, frame: string): void {
  notifyListener(() => onError?.(thrown, frame));
}

/** @throws TypeError if no request can have the path */
export function checkPath(path: string): void {
  if (
    typeof path === 'string' &&
    path.startsWith('/') &&
    URL.canParse(path, 'http://localhost') &&
    new URL(`http://localhost${path}`).pathname === path
  )
    return;
  throw new TypeError(`path must begin with "/" and be written as in a URL; got "${path}"`);
}

/** Returns the response to a request whose head is unacceptable; otherwise `null`. */
function refuse({ url, method, headers }: Request, settings: Settings): Response | null {
  const type = headers.get('content-type');
  const reject = (status: number, message: string, more: Record<string, string> = {}): Response =>
    hasFrameMediaType(type)
      ? errorResponse(status, 'E1001', message, settings, more)
      : new Response(null, { status, headers: { ...NO_STORE, ...more } });
  if (new URL(url).pathname !== settings.path) return reject(404, 'This path does not accept frames.');
  if (method !== 'POST') return reject(405, 'Send frames with POST.', { allow: 'POST' });
  if (!isFrameType(type))
    return reject(415, 'The media type of a frame must be application/accp in UTF-8.', { accept: FRAME_TYPE });
  const coding = headers.get('content-encoding');
  if (coding !== null && asciiLowerCase(withoutBlanks(coding)) !== 'identity') {
    return reject(415, 'Send frames without a content coding.', { 'accept-encoding': 'identity' });
  }
  return null;
}

/** The boundary of two frames: a frame never contains a closing bracket before an `@`, or a line end. */
const FRAME_BOUNDARY = /\n|[}\]]@/;

async function answer(request: Request, frame: string, settings: Settings): Promise<Response> {
  const exchange = createExchange(request);
  let result: FrameAnswer;
  try {
    result = await settings.handle(frame, { signal: exchange.signal });
    if (result !== null && typeof result !== 'string') return await streamResponse(result, frame, exchange, settings);
    if (result !== null) checkFrame(result);
  } catch (thrown) {
    exchange.release();
    const failure = failureOf(thrown, frame, settings);
    return failure === null ? new Response(null, { status: 400, headers: NO_STORE }) : frameResponse(400, failure);
  }
  exchange.release();
  return result === null ? noContent() : frameResponse(statusOf(result), result);
}

const UTF8 = new TextEncoder();

/**
 * Sends each frame as one chunk with a line end, since the boundaries of chunks get lost in transfer. A frame is requested when the previous
 * one has been read.
 */
async function streamResponse(
  frames: AsyncIterable<string>,
  frame: string,
  exchange: Exchange,
  settings: Settings,
): Promise<Response> {
  const source = checked(frames)[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done !== true && exchange.signal.aborted) {
    // The response would not be read, so its source would never end.
    await source.return?.(undefined);
    return noContent();
  }
  if (first.done === true) {
    exchange.release();
    return noContent();
  }
  const turnYield = new EventLoopYield();
  let pending: IteratorResult<string> | undefined = first;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let result = pending;
        let text: string | null = null;
        pending = undefined;
        try {
          result ??= await source.next();
          if (result.done !== true) text = result.value;
        } catch (thrown) {
          text = failureOf(thrown, frame, settings);
        }
        const isLast = result === undefined || result.done === true;
        await turnYield.next();
        if (isLast) exchange.release();
        if (text !== null) controller.enqueue(UTF8.encode(`${text}\n`));
        if (isLast) controller.close();
      },
      async cancel() {
        exchange.abort();
        await source.return?.(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return frameResponse(statusOf(first.value), body);
}

async function* checked(frames: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  for await (const frame of frames) yield checkFrame(frame);
}

/** A frame with a line end would arrive as two. */
function checkFrame(frame: string): string {
  if (typeof frame === 'string' && /^[^\r\n]+$/.test(frame)) return frame;
  throw new TypeError('The handler must return frames, each a string of one line');
}

/** Returns the error frame for the client; `null` if the client sent an error frame. */
function failureOf(thrown: unknown, frame: string, settings: Settings): string | null {
  reportError(settings, thrown, frame);
  if (hasErrorSchema(frame)) return null;
  return bareErrorFrame('E9999', 'The frame could not be processed.', readHead(frame), settings.agent);
}

const NO_STORE = { 'cache-control': 'no-store' };
const FRAME_HEADERS = { ...NO_STORE, 'content-type': FRAME_TYPE };

function statusOf(frame: string): number {
  return hasErrorSchema(frame) ? 400 : 200;
}

function noContent(): Response {
  return new Response(null, { status: 204, headers: NO_STORE });
}

function frameResponse(status: number, body: string | ReadableStream<Uint8Array>): Response {
  return new Response(body, { status, headers: FRAME_HEADERS });
}

function errorResponse(
  status: number,
  code: AccpErrorCode,
  message: string,
  { agent }: Settings,
  more?: Record<string, string>,
): Response {
  return new Response(bareErrorFrame(code, message, null, agent), { status, headers: { ...FRAME_HEADERS, ...more } });
}

type Exchange = ReturnType<typeof createExchange>;

/** Creates an exchange whose signal is aborted with the request, or when the response is cancelled. */
function createExchange(request: Request) {
  const controller = new AbortController();
  // Node 20 may collect a request of which only the signal is referenced, and the signal is never aborted then.
  const release = (): void => request.signal.removeEventListener('abort', abort);
  const abort = (): void => {
    release();
    controller.abort(new DOMException('The client has disconnected.', 'AbortError'));
  };
  if (request.signal.aborted) abort();
  else request.signal.addEventListener('abort', abort);
  return { signal: controller.signal, abort, release };
}
