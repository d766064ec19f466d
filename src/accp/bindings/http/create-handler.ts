import { notifyListener } from '../../../async/listeners.js';
import { asciiLowerCase, withoutBlanks } from '../../../text/ascii.js';
import type { AccpErrorCode } from '../../errors.js';
import { checkAgentName } from '../../session/envelope.js';
import type { Endpoint } from '../endpoint.js';
import { BINDING_AGENT, bareErrorFrame } from '../error-frame.js';
import { FramingError } from '../frame-splitter.js';
import {
  FRAME_TYPE,
  type FrameAnswer,
  type FrameHandler,
  hasErrorSchema,
  MAX_FRAME_BYTES,
  readHead,
  Stretch,
} from '../frames.js';
import { isFrameType, leave, namesFrames, readFrameBody } from './body.js';

/** The default path of frames (section 11.1). */
export const FRAMES_PATH = '/accp/v1/frames';

export interface HandlerOptions {
  /** The whole path, including the mount point of a framework. @default '/accp/v1/frames' */
  readonly path?: string | undefined;
  /** Limit of a frame in bytes; longer ones are not read. @default 1048576 */
  readonly maxFrameBytes?: number | undefined;
  /** The agent of error frames of the binding itself. @default 'accp' */
  readonly agent?: string | undefined;
  /** Called with what a handler or its stream throws: the other side gets E9999 only. */
  readonly onError?: ((thrown: unknown, frame: string) => void) | undefined;
}

/**
 * Makes a function from web-standard requests to responses, for any server that knows these. It never rejects. The body of the request must
 * not have been read.
 *
 * 200 with the answer, 400 with a frame of schema ER, 204 without an answer; 404, 405, 413 and 415 for other requests, with an error frame
 * if the request names the media type of frames. A stream goes out as one frame and a line end for each chunk, no faster than it is read;
 * its first frame decides the status. Check who may send frames, and from which web pages, in front of the handler.
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
      if (request.body !== null) leave(request.body);
      return refusal;
    }
    let frame: string;
    try {
      frame = await readFrameBody(request.body, settings.maxFrameBytes, request.headers.get('content-length'));
    } catch (thrown) {
      // The body was read before.
      if (!(thrown instanceof FramingError)) {
        tell(settings, thrown, '');
        return errorResponse(500, 'E9999', 'The frame could not be read.', settings);
      }
      return errorResponse(thrown.code === 'too-large' ? 413 : 400, 'E1001', thrown.message, settings);
    }
    if (frame === '') return errorResponse(400, 'E1001', 'The body is empty.', settings);
    if (BORDER.test(frame)) return errorResponse(400, 'E1001', 'A body is one frame.', settings);
    return answer(request, frame, settings);
  };
}

type Settings = ReturnType<typeof resolve>;

function resolve(handle: FrameHandler | Endpoint, options: HandlerOptions) {
  const { path = FRAMES_PATH, maxFrameBytes = MAX_FRAME_BYTES, agent = BINDING_AGENT, onError } = options;
  const handler = typeof handle === 'function' ? handle : handle?.handler;
  if (typeof handler !== 'function') throw new TypeError('A handler is made of an endpoint, or of a function');
  checkPath(path);
  if (!(maxFrameBytes >= 1)) throw new TypeError(`maxFrameBytes is a number from 1 on; got ${maxFrameBytes}`);
  return { handle: handler, path, maxFrameBytes, agent: checkAgentName(agent), onError };
}

function tell({ onError }: Settings, thrown: unknown, frame: string): void {
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
  throw new TypeError(`path begins with "/", and is written as in an address; got "${path}"`);
}

/** Refuses a request by its head. */
function refuse({ url, method, headers }: Request, settings: Settings): Response | null {
  const type = headers.get('content-type');
  const refused = (status: number, message: string, more: Record<string, string> = {}): Response =>
    namesFrames(type)
      ? errorResponse(status, 'E1001', message, settings, more)
      : new Response(null, { status, headers: { ...NO_STORE, ...more } });
  if (new URL(url).pathname !== settings.path) return refused(404, 'No frames are taken at this path.');
  if (method !== 'POST') return refused(405, 'Frames are sent by POST.', { allow: 'POST' });
  if (!isFrameType(type)) return refused(415, 'A frame is application/accp in UTF-8.', { accept: FRAME_TYPE });
  const coding = headers.get('content-encoding');
  if (coding !== null && asciiLowerCase(withoutBlanks(coding)) !== 'identity') {
    return refused(415, 'A frame is sent without a content coding.', { 'accept-encoding': 'identity' });
  }
  return null;
}

/** No frame holds a closing bracket before an `@`, or a line end. */
const BORDER = /\n|[}\]]@/;

async function answer(request: Request, frame: string, settings: Settings): Promise<Response> {
  const exchange = exchangeOf(request);
  let given: FrameAnswer;
  try {
    given = await settings.handle(frame, { signal: exchange.signal });
    if (given !== null && typeof given !== 'string') return await streamResponse(given, frame, exchange, settings);
    if (given !== null) checkFrame(given);
  } catch (thrown) {
    exchange.release();
    const failure = failureOf(thrown, frame, settings);
    return failure === null ? new Response(null, { status: 400, headers: NO_STORE }) : frameResponse(400, failure);
  }
  exchange.release();
  return given === null ? nothing() : frameResponse(statusOf(given), given);
}

const UTF8 = new TextEncoder();

/**
 * Makes one chunk of each frame, with a line end, since the borders of chunks get lost on the way. The next frame is asked for when the
 * one before is gone.
 */
async function streamResponse(
  given: AsyncIterable<string>,
  frame: string,
  exchange: Exchange,
  settings: Settings,
): Promise<Response> {
  const source = checked(given)[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done !== true && exchange.signal.aborted) {
    // Nobody would read the response, so nobody would end its source.
    await source.return?.(undefined);
    return nothing();
  }
  if (first.done === true) {
    exchange.release();
    return nothing();
  }
  const stretch = new Stretch();
  let waiting: IteratorResult<string> | undefined = first;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let result = waiting;
        let text: string | null = null;
        waiting = undefined;
        try {
          result ??= await source.next();
          if (result.done !== true) text = result.value;
        } catch (thrown) {
          text = failureOf(thrown, frame, settings);
        }
        const isLast = result === undefined || result.done === true;
        await stretch.next();
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
  throw new TypeError('A handler answers with frames, each a string of one line');
}

/** Returns the error frame for the other side; `null` if it sent an error frame itself. */
function failureOf(thrown: unknown, frame: string, settings: Settings): string | null {
  tell(settings, thrown, frame);
  if (hasErrorSchema(frame)) return null;
  return bareErrorFrame('E9999', 'The frame could not be processed.', readHead(frame), settings.agent);
}

const NO_STORE = { 'cache-control': 'no-store' };
const FRAME_HEADERS = { ...NO_STORE, 'content-type': FRAME_TYPE };

function statusOf(frame: string): number {
  return hasErrorSchema(frame) ? 400 : 200;
}

function nothing(): Response {
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

type Exchange = ReturnType<typeof exchangeOf>;

/** Its signal is aborted when the request is, or when the response is left before its end. */
function exchangeOf(request: Request) {
  const controller = new AbortController();
  // Node 20 may collect a request of which only the signal is held, and the signal is never aborted then.
  const release = (): void => request.signal.removeEventListener('abort', abort);
  const abort = (): void => {
    release();
    controller.abort(new DOMException('The client has gone.', 'AbortError'));
  };
  if (request.signal.aborted) abort();
  else request.signal.addEventListener('abort', abort);
  return { signal: controller.signal, abort, release };
}
