import { type ErrorDetails, PegwireError } from '../../text/errors.js';

/** One encoding that a model is asked for. */
export interface ModelRequest {
  /** The instruction as it was given. It is data: `prompt` holds it marked as such. */
  readonly instruction: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: string;
  /** The system message: how a packet is written. */
  readonly system: string;
  /** The user message. */
  readonly prompt: string;
  /** In the second round: the first reply, and what was wrong with it. The conversation goes on with both. */
  readonly repair: { readonly reply: string; readonly prompt: string } | null;
  /** The grammar of the packets that are allowed here, for constrained decoding. Made when it is asked for. */
  readonly grammar: (notation: GrammarNotation) => Promise<string>;
  /** Most tokens to write. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
}

export type GrammarNotation = 'gbnf' | 'lark' | 'regex';

/** What a model answered. */
export interface ModelReply {
  /** The text as it came: a packet, or one within JSON, fences or prose. Empty for a refusal. */
  readonly text: string;
  readonly usage?: ModelUsage | undefined;
  /** The name of the model that answered. */
  readonly model?: string | undefined;
  /** US dollars; `null` or none where the price is not known. */
  readonly cost?: number | null | undefined;
  /** `length`: it stopped for `maxTokens`; `refusal`: it declined. @default 'stop' */
  readonly finish?: 'stop' | 'length' | 'refusal' | undefined;
}

/** Tokens, as the provider bills them. */
export interface ModelUsage {
  /** All tokens read, those from a cache included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a model gives: its text alone will do. Usage and cost are unknown then. */
export type ModelAnswer = string | ModelReply;

/**
 * Asks a model: any function from a request to an answer, or a promise of one. Anything it throws counts as no answer; a
 * ModelError says more.
 *
 * @example
 * const model: Model = async ({ system, prompt, signal }) => await complete(`${system}\n\n${prompt}`, signal);
 * const canned: Model = () => 'FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:emp_salary';
 */
export type Model = (request: ModelRequest) => ModelAnswer | PromiseLike<ModelAnswer>;

/** A model of one of the providers here. @throws ModelError if there is no answer */
export type ProviderModel = (request: ModelRequest) => Promise<ModelReply>;

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/**
 * - `model-unavailable`: no connection, or the provider is at fault (5xx).
 * - `model-rate-limited`: see `retryAfterMs`.
 * - `model-timeout`, `model-aborted`: it took too long, or the caller gave up.
 * - `model-unauthorised`: the key is missing, wrong, or not enough.
 * - `model-bad-request`: the provider refuses the request itself (another 4xx).
 * - `model-not-installed`: the SDK of the provider is not installed.
 * - `model-bad-reply`: what came back is not what the provider's protocol says.
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

/** There is no answer from a model. */
export class ModelError extends PegwireError {
  override readonly name: string = 'ModelError';
  declare readonly code: ModelErrorCode;
  /** Milliseconds to wait before you ask again; `null` if the provider does not say. */
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
    ? new ModelError({ code: 'model-timeout', message: 'The model did not answer in time.' })
    : new ModelError({ code: 'model-aborted', message: 'The request was given up.' });
}

/**
 * Runs work with its own signal, and settles when the given one fires: SDKs ignore it while they wait to retry, and may
 * leave listeners behind.
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
