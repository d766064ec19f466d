import { abortable, type LinkedSignal, linkSignals } from '../../../async/abort.js';
import { after } from '../../../async/timers.js';
import { PegwireError } from '../../../text/errors.js';
import type { Param } from '../../ast.js';
import { tryParseFrame } from '../../parse.js';
import { ENDING_INTENTS } from '../../vocabulary.js';
import { FrameSplitter, FramingError } from '../frame-splitter.js';
import { FRAME_TYPE, isErrorHead, isFinalChunk, numberOf, readHead, textOf } from '../frames.js';
import { isFrameType, leave } from './body.js';

/**
 * - `unreachable`: the host is unknown, refuses the connection, or broke it before an answer
 * - `timeout`: no answer came in time
 * - `redirected`: the server redirects, which is not followed: a frame is for its recipient only
 * - `http-status`: the server answered with a status that carries no frames
 * - `not-accp`: the answer is of another media type, or not UTF-8
 * - `more-than-one-frame`: the answer goes on after its first frame; `streamFrames` takes such answers
 * - `truncated`: the answer broke off, or ended before a stream in it, or before a message in several frames
 * - `too-large`: a frame has more bytes than the limit
 */
export type HttpBindingErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'redirected'
  | 'http-status'
  | 'not-accp'
  | 'more-than-one-frame'
  | 'truncated'
  | 'too-large';

/** An exchange over HTTP that gave no frame. Error frames are answers, not errors of the binding. */
export class HttpBindingError extends PegwireError {
  override readonly name: string = 'HttpBindingError';
  declare readonly code: HttpBindingErrorCode;
  /** The status of the response; `undefined` if none came. */
  readonly status: number | undefined;

  constructor(
    code: HttpBindingErrorCode,
    message: string,
    details: { readonly status?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super({ code, message }, details);
    this.status = details.status;
  }
}

/** The platform's `fetch`, or a replacement: `app.request` of a framework, to do without a socket. */
export type Fetch = (url: string, init: RequestInit) => Response | Promise<Response>;

export interface PostOptions {
  /** @default the platform's */
  readonly fetch?: Fetch | undefined;
  /** Ends the exchange; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Headers of the request besides those of the binding: `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Limit of a frame of the answer in bytes. @default 1048576 */
  readonly maxFrameBytes?: number | undefined;
  /** Milliseconds to wait: by `postFrame` for the whole exchange, by `streamFrames` for each step. @default Infinity */
  readonly timeoutMs?: number | undefined;
}

/**
 * Posts a frame.
 *
 * Source: draft-benzing-accp-00, section 11.1.
 *
 * @returns the frame that answers it, an error frame or other; `null` if there is no answer (204)
 * @throws HttpBindingError if the answer is not one frame
 * @throws TypeError if the text has more than one line, or an option is invalid
 * @example
 * const answer = await postFrame('http://127.0.0.1:8080/accp/v1/frames', codec.encode(message, session).frames[0]);
 */
export async function postFrame(url: string | URL, frame: string, options: PostOptions = {}): Promise<string | null> {
  const posting = new Posting(url, frame, options, true);
  const frames = posting.frames();
  const answer = await frames.next();
  if (answer.done === true) return null;
  const next = await frames.next();
  if (next.done === true) return answer.value;
  await frames.return();
  throw new HttpBindingError('more-than-one-frame', 'The answer goes on after its first frame.', {
    status: posting.status,
  });
}

/**
 * Posts a frame, and yields the frames that answer it as they come. The request is sent when the first one is asked for; leaving the loop
 * early ends the response.
 *
 * Source: draft-benzing-accp-00, section 11.1.
 *
 * @throws HttpBindingError if the answer has no frames, or breaks off, after the frames that came before
 * @throws TypeError if the text has more than one line, or an option is invalid
 * @example
 * for await (const answer of streamFrames(url, request)) codec.decode(answer, session);
 */
export function streamFrames(url: string | URL, frame: string, options: PostOptions = {}): AsyncIterable<string> {
  return new Posting(url, frame, options).frames();
}

/** One request and its response. */
class Posting {
  readonly #url: string | URL;
  readonly #frame: string;
  readonly #options: PostOptions;
  readonly #isForAll: boolean;
  #patience!: Patience;
  readonly #unfinished = new Unfinished();
  status: number | undefined;

  /** @param isForAll whether the time is for the whole exchange */
  constructor(url: string | URL, frame: string, options: PostOptions, isForAll = false) {
    const { timeoutMs = Number.POSITIVE_INFINITY, maxFrameBytes = 1 } = options;
    if (typeof frame !== 'string' || !/^[^\r\n]+$/.test(frame)) throw new TypeError('A frame is a string of one line');
    if (!(maxFrameBytes >= 1)) throw new TypeError(`maxFrameBytes must be a number >= 1; got ${maxFrameBytes}`);
    if (!(timeoutMs > 0))
      throw new TypeError(`timeoutMs must be a positive number of milliseconds or Infinity; got ${timeoutMs}`);
    this.#url = url;
    this.#frame = frame;
    this.#options = options;
    this.#isForAll = isForAll;
  }

  async *frames(): AsyncGenerator<string, void, undefined> {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY } = this.#options;
    this.#patience = new Patience(signal, timeoutMs, this.#isForAll);
    try {
      const response = await this.#post();
      if (response.status !== 204) yield* this.#framesOf(response);
    } finally {
      this.#patience.end();
    }
  }

  /** @returns a response that holds frames, or nothing at all (204) */
  async #post(): Promise<Response> {
    const { fetch: ask = fetch as Fetch } = this.#options;
    const headers = new Headers(this.#options.headers);
    headers.set('content-type', FRAME_TYPE);
    headers.set('accept', FRAME_TYPE);
    const { signal } = this.#patience;
    const init: RequestInit = { method: 'POST', headers, body: this.#frame, redirect: 'manual', signal };
    let response: Response;
    try {
      response = await this.#patience.wait(
        async () => ask(String(this.#url), init),
        ({ body }) => {
          if (body !== null) leave(body);
        },
      );
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      throw new HttpBindingError('unreachable', 'No answer came.', { cause: thrown });
    }
    this.status = response.status;
    const refusal = refusalOf(response);
    if (refusal === null) return response;
    const said = refusal.code === 'http-status' ? await this.#saidIn(response) : undefined;
    if (said === undefined) {
      if (response.body !== null && !response.body.locked) leave(response.body);
      throw refusal;
    }
    throw new HttpBindingError('http-status', `${refusal.message} It said: ${said}`, { status: response.status });
  }

  /** Reads the error frame of a response with an error status. */
  async #saidIn(response: Response): Promise<string | undefined> {
    if (!isFrameType(response.headers.get('content-type'))) return undefined;
    try {
      for await (const frame of this.#framesOf(response)) return frame;
    } catch (thrown) {
      // A body that is not a frame does not matter beside the status; the end of the wait does.
      if (this.#patience.signal.aborted) throw thrown;
    }
    return undefined;
  }

  /**
   * Yields the frames of a response, at least one. The response has to end where its streams do: a proxy ends the body properly also if the
   * server behind it died in the middle (section 10.4). A report of a gap is answered by the lost frames, which may be any part of a stream.
   */
  async *#framesOf({ status, body }: Response): AsyncGenerator<string, void, undefined> {
    const splitter = new FrameSplitter({ maxFrameBytes: this.#options.maxFrameBytes });
    const unfinished = this.#unfinished;
    const reader = body?.getReader();
    let isOver = reader === undefined;
    let isEmpty = true;
    try {
      while (!isOver) {
        const { done, value } = await this.#read(reader!, status);
        isOver = done;
        for (const frame of value === undefined ? splitter.end() : splitter.push(value)) {
          isEmpty = false;
          unfinished.take(frame);
          yield frame;
        }
      }
      if (isEmpty) throw new HttpBindingError('truncated', 'The answer is empty.', { status });
      if (!unfinished.isWhole && !isReport(this.#frame))
        throw new HttpBindingError('truncated', `The answer ends without ${unfinished.missing}.`, { status });
    } catch (thrown) {
      if (!(thrown instanceof FramingError)) throw thrown;
      const code = thrown.code === 'not-utf8' ? 'not-accp' : thrown.code;
      throw new HttpBindingError(code, thrown.message, { status, cause: thrown });
    } finally {
      if (!isOver) leave(reader!);
    }
  }

  async #read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    status: number,
  ): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> {
    try {
      return await this.#patience.wait(() => reader.read());
    } catch (cause) {
      const { signal } = this.#patience;
      if (signal.aborted) throw signal.reason;
      // Nothing is missing after the last frame of a chain.
      if (this.#unfinished.hasEnded) return { done: true };
      throw new HttpBindingError('truncated', 'The answer broke off.', { status, cause });
    }
  }
}

function refusalOf({ status, type, headers }: Response): HttpBindingError | null {
  if (status === 204) return null;
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return new HttpBindingError('redirected', 'The server sends elsewhere.', { status });
  }
  const isFrames = isFrameType(headers.get('content-type'));
  if (isFrames && (status === 200 || status === 400)) return null;
  if (status !== 200) return new HttpBindingError('http-status', `The server answers with ${status}.`, { status });
  const told = headers.get('content-type') ?? 'nothing';
  return new HttpBindingError('not-accp', `The answer is not ${FRAME_TYPE} but ${told.slice(0, 80)}.`, { status });
}

function isReport(frame: string): boolean {
  const head = readHead(frame);
  return head !== null && isErrorHead(head);
}

/** A stream whose final chunk, or some chunk before it, has not come. */
interface Begun {
  chunks: number;
  /** Known once the final chunk has come. */
  count: number | undefined;
}

/** Follows the streams and the messages in several frames of an answer. */
class Unfinished {
  readonly #streams = new Map<string, Begun>();
  readonly #messages = new Set<string>();
  #isEnd = false;

  take(frame: string): void {
    const parsed = tryParseFrame(frame, { dialect: 'lenient' });
    if (!parsed.ok) return;
    const { intent, payload, metadata } = parsed.value;
    const cid = textOf(metadata, 'cid');
    const chain = cid ?? '';
    const total = numberOf(metadata, 'tot');
    if (total !== undefined) {
      this.#messages.delete(chain);
      if ((numberOf(metadata, 'idx') ?? 0) < total - 1) this.#messages.add(chain);
    }
    const schema = textOf(payload, 'schema');
    this.#isEnd = ENDING_INTENTS.has(intent);
    // An error without a chain is about the posted frame.
    if (schema === 'ER' && cid === undefined) this.#streams.clear();
    else if (this.#isEnd) this.#streams.delete(chain);
    else if (schema === 'ST') this.#isEnd = this.#chunk(chain, payload);
  }

  get isWhole(): boolean {
    return this.#streams.size === 0 && this.#messages.size === 0;
  }

  /** Whether the last frame has ended its chain, and nothing else is open. */
  get hasEnded(): boolean {
    return this.#isEnd && this.isWhole;
  }

  get missing(): string {
    return this.#streams.size > 0 ? 'the end of a stream' : 'the rest of a message in several frames';
  }

  /** @returns whether the chunk completes its stream */
  #chunk(chain: string, payload: readonly Param[]): boolean {
    const index = numberOf(payload, 'idx') ?? numberOf(payload, 'chunk_index') ?? 0;
    const stream = this.#streams.get(chain) ?? { chunks: 0, count: undefined };
    stream.chunks++;
    if (isFinalChunk(payload)) stream.count = index + 1;
    // Chunks may come in any order: the final one may not be the last that comes.
    const isWhole = stream.count !== undefined && stream.chunks >= stream.count;
    if (isWhole) this.#streams.delete(chain);
    else this.#streams.set(chain, stream);
    return isWhole;
  }
}

/** The time limit and the abort signal of one exchange. */
export class Patience {
  readonly #linked: LinkedSignal;
  readonly #stop: () => void;
  /** Begins the time of a step. @returns ends it */
  readonly #step: () => () => void;

  /**
   * @param timeoutMs milliseconds, or `Infinity`
   * @param isForAll whether the time is for the whole exchange, and not for each step
   */
  constructor(given: AbortSignal | undefined, timeoutMs: number, isForAll = false) {
    const late = new AbortController();
    const begin = (): (() => void) =>
      after(timeoutMs, () => late.abort(new HttpBindingError('timeout', `No answer arrived within ${timeoutMs} ms.`)));
    this.#linked = linkSignals(given ?? late.signal, late.signal);
    this.#stop = isForAll ? begin() : () => undefined;
    this.#step = isForAll ? () => () => undefined : begin;
  }

  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  /**
   * Waits for work, even if it ignores the signal.
   *
   * @param late called with a result that comes too late
   */
  async wait<T>(work: () => Promise<T>, late: (result: T) => void = () => undefined): Promise<T> {
    const { signal } = this;
    signal.throwIfAborted();
    const done = this.#step();
    const working = work();
    try {
      return await abortable(working, signal);
    } catch (thrown) {
      if (signal.aborted) working.then(late, () => undefined);
      throw thrown;
    } finally {
      done();
    }
  }

  end(): void {
    this.#stop();
    this.#linked.release();
  }
}
