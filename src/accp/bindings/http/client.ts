import { abortable, type LinkedSignal, linkSignals } from '../../../async/abort.js';
import { assertDurations } from '../../../async/durations.js';
import { after } from '../../../async/timers.js';
import { cancelBody } from '../../../channels/body.js';
import { PegwireError } from '../../../text/errors.js';
import type { Param } from '../../ast.js';
import { tryParseFrame } from '../../parse.js';
import { ENDING_INTENTS } from '../../vocabulary.js';
import { FrameSplitter, FramingError } from '../frame-splitter.js';
import { FRAME_TYPE, isErrorHead, isFinalChunk, numberOf, readHead, textOf } from '../frames.js';
import { isFrameType } from './body.js';

/**
 * The code of an `HttpBindingError`.
 *
 * - `unreachable`: the host is unknown, refuses the connection, or closed it before an answer
 * - `timeout`: no answer arrived in time
 * - `redirected`: the server redirects; redirects are not followed, since a frame is for its recipient only
 * - `http-status`: the server answered with a status that carries no frames
 * - `not-accp`: the answer is of another media type, or not UTF-8
 * - `more-than-one-frame`: the answer continues after its first frame; `streamFrames` reads such answers
 * - `truncated`: the connection closed in the middle of the answer, or the answer ended in the middle of a stream or of a message in several frames
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

/** An exchange over HTTP that did not return a frame. Error frames are answers, not errors of the binding. */
export class HttpBindingError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'HttpBindingError';
  /** A code that stays the same between versions. */
  declare readonly code: HttpBindingErrorCode;
  /** The status of the response; `undefined` if no response arrived. */
  readonly status: number | undefined;

  /**
   * Creates an error.
   *
   * @param code the stable reason
   * @param message the reason for people
   * @param details the status of the response and the underlying error
   */
  constructor(
    code: HttpBindingErrorCode,
    message: string,
    details: { readonly status?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super({ code, message }, details);
    this.status = details.status;
  }
}

/** The platform's `fetch` or a replacement, such as `app.request` of a framework, which needs no socket. */
export type Fetch = (url: string, init: RequestInit) => Response | Promise<Response>;

/** Options of {@link postFrame} and {@link streamFrames}. */
export interface PostOptions {
  /** The function that sends the request. @default the platform's `fetch` */
  readonly fetch?: Fetch | undefined;
  /** Aborts the exchange; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Headers of the request besides those of the binding, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The maximum size of a frame of the answer, in bytes. @default 1048576 */
  readonly maxFrameBytes?: number | undefined;
  /** Time limit in milliseconds: of the whole exchange in `postFrame`, of each step in `streamFrames`. @default Infinity */
  readonly timeoutMs?: number | undefined;
}

/**
 * Posts a frame and returns the frame that answers it.
 *
 * Source: draft-benzing-accp-00, section 11.1.
 *
 * @returns the answer, which may be an error frame; `null` if there is none (204)
 * @throws HttpBindingError if the answer is not one frame
 * @throws TypeError if the text has more than one line, or an option is invalid
 * @example
 * const answer = await postFrame('http://127.0.0.1:8080/accp/v1/frames', codec.encode(message, session).frames[0]);
 */
export async function postFrame(url: string | URL, frame: string, options: PostOptions = {}): Promise<string | null> {
  const exchange = new HttpExchange(url, frame, options, true);
  const frames = exchange.frames();
  const answer = await frames.next();
  if (answer.done === true) return null;
  const next = await frames.next();
  if (next.done === true) return answer.value;
  await frames.return();
  throw new HttpBindingError(
    'more-than-one-frame',
    'The answer continues after its first frame; read it with streamFrames.',
    {
      status: exchange.status,
    },
  );
}

/**
 * Posts a frame and yields the frames that answer it as they arrive. The request is sent when the first one is requested; leaving the loop
 * early ends the response.
 *
 * Source: draft-benzing-accp-00, section 11.1.
 *
 * @throws HttpBindingError if the answer has no frames or is incomplete, after the frames that have arrived
 * @throws TypeError if the text has more than one line, or an option is invalid
 * @example
 * for await (const answer of streamFrames(url, request)) codec.decode(answer, session);
 */
export function streamFrames(url: string | URL, frame: string, options: PostOptions = {}): AsyncIterable<string> {
  return new HttpExchange(url, frame, options).frames();
}

/** One request and its response. */
class HttpExchange {
  readonly #url: string | URL;
  readonly #frame: string;
  readonly #options: PostOptions;
  readonly #isTotal: boolean;
  #timer!: ExchangeTimer;
  readonly #progress = new AnswerProgress();
  status: number | undefined;

  /** @param isTotal `true` if the time limit is for the whole exchange */
  constructor(url: string | URL, frame: string, options: PostOptions, isTotal = false) {
    const { timeoutMs = Number.POSITIVE_INFINITY, maxFrameBytes = 1 } = options;
    if (typeof frame !== 'string' || !/^[^\r\n]+$/.test(frame))
      throw new TypeError('frame must be a string of one line');
    if (!(maxFrameBytes >= 1)) throw new TypeError(`maxFrameBytes must be a number >= 1; got ${maxFrameBytes}`);
    assertDurations({ timeoutMs });
    this.#url = url;
    this.#frame = frame;
    this.#options = options;
    this.#isTotal = isTotal;
  }

  async *frames(): AsyncGenerator<string, void, undefined> {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY } = this.#options;
    this.#timer = new ExchangeTimer(signal, timeoutMs, this.#isTotal);
    try {
      const response = await this.#post();
      if (response.status !== 204) yield* this.#framesOf(response);
    } finally {
      this.#timer.end();
    }
  }

  /** @returns a response that has frames or no body (204) */
  async #post(): Promise<Response> {
    const { fetch: send = fetch as Fetch } = this.#options;
    const headers = new Headers(this.#options.headers);
    headers.set('content-type', FRAME_TYPE);
    headers.set('accept', FRAME_TYPE);
    const { signal } = this.#timer;
    const init: RequestInit = { method: 'POST', headers, body: this.#frame, redirect: 'manual', signal };
    let response: Response;
    try {
      response = await this.#timer.wait(
        async () => send(String(this.#url), init),
        ({ body }) => {
          if (body !== null) cancelBody(body);
        },
      );
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      throw new HttpBindingError('unreachable', 'No answer arrived.', { cause: thrown });
    }
    this.status = response.status;
    const refusal = errorOf(response);
    if (refusal === null) return response;
    const errorFrame = refusal.code === 'http-status' ? await this.#errorFrameIn(response) : undefined;
    if (errorFrame === undefined) {
      if (response.body !== null && !response.body.locked) cancelBody(response.body);
      throw refusal;
    }
    throw new HttpBindingError('http-status', `${refusal.message} It sent: ${errorFrame}`, { status: response.status });
  }

  /** Reads the error frame of a response with an error status. */
  async #errorFrameIn(response: Response): Promise<string | undefined> {
    if (!isFrameType(response.headers.get('content-type'))) return undefined;
    try {
      for await (const frame of this.#framesOf(response)) return frame;
    } catch (thrown) {
      // Next to the status, a body that is not a frame does not matter; an aborted signal does.
      if (this.#timer.signal.aborted) throw thrown;
    }
    return undefined;
  }

  /**
   * Yields the frames of a response, at least one. The response must not end before its streams: a proxy ends the body properly even if the
   * server behind it crashed in the middle (section 10.4). A gap report is answered with the lost frames, which may be any part of a stream.
   */
  async *#framesOf({ status, body }: Response): AsyncGenerator<string, void, undefined> {
    const splitter = new FrameSplitter({ maxFrameBytes: this.#options.maxFrameBytes });
    const progress = this.#progress;
    const reader = body?.getReader();
    let isAtEnd = reader === undefined;
    let isEmpty = true;
    try {
      while (!isAtEnd) {
        const { done, value } = await this.#read(reader!, status);
        isAtEnd = done;
        for (const frame of value === undefined ? splitter.end() : splitter.push(value)) {
          isEmpty = false;
          progress.add(frame);
          yield frame;
        }
      }
      if (isEmpty) throw new HttpBindingError('truncated', 'The answer is empty.', { status });
      if (!progress.isComplete && !isErrorFrame(this.#frame))
        throw new HttpBindingError('truncated', `The answer ends without ${progress.missing}.`, { status });
    } catch (thrown) {
      if (!(thrown instanceof FramingError)) throw thrown;
      const code = thrown.code === 'not-utf8' ? 'not-accp' : thrown.code;
      throw new HttpBindingError(code, thrown.message, { status, cause: thrown });
    } finally {
      if (!isAtEnd) cancelBody(reader!);
    }
  }

  async #read(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    status: number,
  ): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> {
    try {
      return await this.#timer.wait(() => reader.read());
    } catch (cause) {
      const { signal } = this.#timer;
      if (signal.aborted) throw signal.reason;
      // The answer is complete after the last frame of a chain.
      if (this.#progress.hasEnded) return { done: true };
      throw new HttpBindingError('truncated', 'The connection closed in the middle of the answer.', { status, cause });
    }
  }
}

function errorOf({ status, type: responseType, headers }: Response): HttpBindingError | null {
  if (status === 204) return null;
  if (responseType === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return new HttpBindingError('redirected', 'The server redirects to another address; use that address.', { status });
  }
  const hasFrames = isFrameType(headers.get('content-type'));
  if (hasFrames && (status === 200 || status === 400)) return null;
  if (status !== 200)
    return new HttpBindingError('http-status', `The server responded with status ${status}.`, { status });
  const type = headers.get('content-type')?.slice(0, 80) ?? 'missing';
  return new HttpBindingError('not-accp', `The media type of the answer must be ${FRAME_TYPE}; got ${type}.`, {
    status,
  });
}

function isErrorFrame(frame: string): boolean {
  const head = readHead(frame);
  return head !== null && isErrorHead(head);
}

/** A stream of which chunks are missing. */
interface StreamProgress {
  chunks: number;
  /** The number of chunks, known once the final chunk has arrived. */
  count: number | undefined;
}

/** Tracks the streams of an answer, and its messages in several frames. */
class AnswerProgress {
  readonly #streams = new Map<string, StreamProgress>();
  readonly #messages = new Set<string>();
  #endsChain = false;

  add(frame: string): void {
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
    this.#endsChain = ENDING_INTENTS.has(intent);
    // An error without a chain is about the posted frame.
    if (schema === 'ER' && cid === undefined) this.#streams.clear();
    else if (this.#endsChain) this.#streams.delete(chain);
    else if (schema === 'ST') this.#endsChain = this.#chunk(chain, payload);
  }

  get isComplete(): boolean {
    return this.#streams.size === 0 && this.#messages.size === 0;
  }

  /** `true` if the last frame has ended its chain, and the answer has no other incomplete part. */
  get hasEnded(): boolean {
    return this.#endsChain && this.isComplete;
  }

  get missing(): string {
    return this.#streams.size > 0 ? 'the end of a stream' : 'the rest of a message in several frames';
  }

  /** @returns `true` if the chunk completes its stream */
  #chunk(chain: string, payload: readonly Param[]): boolean {
    const index = numberOf(payload, 'idx') ?? numberOf(payload, 'chunk_index') ?? 0;
    const stream = this.#streams.get(chain) ?? { chunks: 0, count: undefined };
    stream.chunks++;
    if (isFinalChunk(payload)) stream.count = index + 1;
    // Chunks may arrive in any order: the final one may not be the last that arrives.
    const isComplete = stream.count !== undefined && stream.chunks >= stream.count;
    if (isComplete) this.#streams.delete(chain);
    else this.#streams.set(chain, stream);
    return isComplete;
  }
}

/** The time limit and the abort signal of one exchange. */
export class ExchangeTimer {
  readonly #linked: LinkedSignal;
  readonly #stop: () => void;
  /** Starts the timer of a step. @returns a function that stops it */
  readonly #startStep: () => () => void;

  /**
   * @param timeoutMs milliseconds, or `Infinity`
   * @param isTotal `true` if the time limit is for the whole exchange, and not for each step
   */
  constructor(signal: AbortSignal | undefined, timeoutMs: number, isTotal = false) {
    const timeout = new AbortController();
    const start = (): (() => void) =>
      after(timeoutMs, () =>
        timeout.abort(new HttpBindingError('timeout', `No answer arrived within ${timeoutMs} ms.`)),
      );
    this.#linked = linkSignals(signal ?? timeout.signal, timeout.signal);
    this.#stop = isTotal ? start() : () => undefined;
    this.#startStep = isTotal ? () => () => undefined : start;
  }

  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  /**
   * Waits for a step, even if it ignores the signal.
   *
   * @param onLate called with a result that arrives after the signal was aborted
   */
  async wait<T>(step: () => Promise<T>, onLate: (result: T) => void = () => undefined): Promise<T> {
    const { signal } = this;
    signal.throwIfAborted();
    const stopStep = this.#startStep();
    const running = step();
    try {
      return await abortable(running, signal);
    } catch (thrown) {
      if (signal.aborted) running.then(onLate, () => undefined);
      throw thrown;
    } finally {
      stopStep();
    }
  }

  end(): void {
    this.#stop();
    this.#linked.release();
  }
}
