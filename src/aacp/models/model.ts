import { type ErrorDetails, PegwireError } from '../../text/errors.js';

/** A request to a model to encode one instruction. */
export interface ModelRequest {
  /** The instruction, unchanged. It is data: `prompt` contains it, marked as such. */
  readonly instruction: string;
  /** The DOM that the packet must have. */
  readonly domain: string;
  /** The agent that receives the result. */
  readonly returnAgent: string;
  /** The priority: `1`, `2` or `3`. */
  readonly priority: string;
  /** The system message, which describes how to write a packet. */
  readonly system: string;
  /** The message of the user, which contains the instruction. */
  readonly prompt: string;
  /** In the second request: the first reply, and a user message with its faults. Both continue the conversation. Otherwise `null`. */
  readonly repair: { readonly reply: string; readonly prompt: string } | null;
  /** Makes the grammar of the packets that the request allows, for constrained decoding. */
  readonly grammar: (notation: GrammarNotation) => Promise<string>;
  /** The maximum number of tokens of the reply. */
  readonly maxTokens: number;
  /** Aborts the request. */
  readonly signal: AbortSignal;
}

/** A notation of grammars: GBNF of llama.cpp, Lark, or a regular expression. */
export type GrammarNotation = 'gbnf' | 'lark' | 'regex';

/** The reply of a model. */
export interface ModelReply {
  /** The unchanged output: a packet, possibly within JSON, fences or prose. Empty if the model declined. */
  readonly text: string;
  /** The tokens that the call used. @default unknown */
  readonly usage?: ModelUsage | undefined;
  /** The name of the model that replied. @default unknown */
  readonly model?: string | undefined;
  /** The cost in US dollars; `null` if unknown. @default null */
  readonly cost?: number | null | undefined;
  /** The reason for the end of the output. `length`: the limit `maxTokens` was reached. `refusal`: the model declined. @default 'stop' */
  readonly finish?: 'stop' | 'length' | 'refusal' | undefined;
}

/** The tokens that the provider charges for. */
export interface ModelUsage {
  /** The input tokens, including those from a cache. */
  readonly inputTokens: number;
  /** The tokens of the reply. */
  readonly outputTokens: number;
}

/** The result of a model function. If it is a string, usage and cost are unknown. */
export type ModelAnswer = string | ModelReply;

/**
 * A model: any function from a request to a reply, or to a promise of one. If it throws, the call has failed; a ModelError describes the
 * reason.
 *
 * @example
 * const model: Model = async ({ system, prompt, signal }) => await complete(`${system}\n\n${prompt}`, signal);
 * const canned: Model = () => 'FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:emp_salary';
 */
export type Model = (request: ModelRequest) => ModelAnswer | PromiseLike<ModelAnswer>;

/** A model of one of the supported providers. @throws ModelError if there is no reply */
export type ProviderModel = (request: ModelRequest) => Promise<ModelReply>;

/** A price in US dollars per million tokens. */
export interface ModelPrice {
  /** The price of input tokens. */
  readonly input: number;
  /** The price of output tokens. */
  readonly output: number;
}

/**
 * The code of a `ModelError`.
 *
 * - `model-unavailable`: there is no connection, or the provider failed (5xx).
 * - `model-rate-limited`: the provider limits the rate of requests; see `retryAfterMs`.
 * - `model-timeout`: the model did not reply in time.
 * - `model-aborted`: the caller aborted the request.
 * - `model-unauthorised`: the API key is missing or invalid, or its account lacks permission or credit.
 * - `model-bad-request`: the provider rejects the request (another 4xx).
 * - `model-not-installed`: the SDK of the provider is not installed.
 * - `model-bad-reply`: the reply does not follow the protocol of the provider.
 */
export type ModelErrorCode =
  | 'model-unavailable'
  | 'model-rate-limited'
  | 'model-timeout'
  | 'model-aborted'
  | 'model-unauthorised'
  | 'model-bad-request'
  | 'model-not-installed'
  | 'model-bad-reply';

/** The error thrown when a call of a model fails. */
export class ModelError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'ModelError';
  declare readonly code: ModelErrorCode;
  /** The delay in milliseconds after which to retry; `null` if the provider does not specify it. */
  readonly retryAfterMs: number | null;

  constructor(
    details: ErrorDetails & { readonly code: ModelErrorCode; readonly message: string },
    options: { readonly retryAfterMs?: number | null; readonly cause?: unknown } = {},
  ) {
    super(details, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

export function abortError({ reason }: AbortSignal): ModelError {
  const timedOut = (reason as { readonly name?: unknown } | null | undefined)?.name === 'TimeoutError';
  return timedOut
    ? new ModelError({ code: 'model-timeout', message: 'The model did not reply in time.' })
    : new ModelError({ code: 'model-aborted', message: 'The request was aborted.' });
}

/**
 * Runs work with a signal of its own, and rejects when the given signal is aborted: SDKs ignore the signal while they wait to retry, and
 * may leave listeners behind.
 */
export function unlessAborted<T>(signal: AbortSignal, work: (own: AbortSignal) => PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(abortError(signal));
    const controller = new AbortController();
    const abort = (): void => {
      controller.abort(signal.reason);
      reject(abortError(signal));
    };
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve()
      .then(() => work(controller.signal))
      .finally(() => signal.removeEventListener('abort', abort))
      .then(resolve, reject);
  });
}
