/** The common part of the providers: constraints, errors, cost. */

import type * as z from 'zod';
import { abortableBody } from '../../async/abort.js';
import { assertDurations } from '../../async/durations.js';
import { LONGEST_TIMER } from '../../async/timers.js';
import { anyText } from '../../text/visible.js';
import {
  type GrammarNotation,
  ModelError,
  type ModelPrice,
  type ModelRequest,
  type ModelUsage,
  type ProviderModel,
  unlessAborted,
} from './model.js';
import { PACKET } from './packet-grammar.js';
import { type CallContext, type HttpFault, httpFaultOf, modelErrorOf, retryAfterMsOf } from './provider-errors.js';

/** Options of all providers. */
export interface ProviderOptions {
  /** The provider's name of the model. */
  readonly model: string;
  /** The API key. @default the key in the environment that the SDK reads; for `openaiCompatibleModel`, none */
  readonly apiKey?: string | undefined;
  /** The URL of the API, including the version: `http://127.0.0.1:8080/v1`. Required for `openaiCompatibleModel` without `client`. @default that of the SDK */
  readonly baseUrl?: string | undefined;
  /** The price of tokens. @default unknown, like the cost of the replies */
  readonly price?: ProviderPrice | undefined;
  /** Milliseconds after which one attempt times out, including the body of the reply; `Infinity` is never. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** The number of retries of the SDK after connection errors and the statuses 408, 409, 429 and 5xx. @default 2 */
  readonly maxRetries?: number | undefined;
  /**
   * The longest delay between retries in milliseconds. If the provider requests a longer one, the request fails with a ModelError.
   * `Infinity` accepts any delay. Does not apply to your own `client`. @default 30000
   */
  readonly maxRetryDelayMs?: number | undefined;
  /** Called when a request is sent differently than configured. Errors that it throws are ignored. @default none */
  readonly onNotice?: ((notice: ModelNotice) => void) | undefined;
  /** Further members of the request body, in the form of the provider: `{ reasoning: { effort: 'low' } }`. @default {} */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** The options that are passed to an SDK with each request. Both SDKs have them. */
export interface SdkRequestOptions {
  /** Aborts the request. */
  readonly signal: AbortSignal;
  /** Milliseconds after which an attempt times out. */
  readonly timeout: number;
  /** The number of retries. */
  readonly maxRetries: number;
}

export type ProviderSettings = ReturnType<typeof resolveProvider>;

export function resolveProvider(options: ProviderOptions) {
  if (typeof options !== 'object' || options === null) throw new TypeError('options must be an object');
  const { model, price, onNotice, body } = options;
  if (typeof model !== 'string' || model === '') throw new TypeError('model must be the name of a model');
  if (onNotice !== undefined && typeof onNotice !== 'function') throw new TypeError('onNotice must be a function');
  if (body !== undefined && (typeof body !== 'object' || body === null)) throw new TypeError('body must be an object');
  if (price !== undefined) checkPrice(price);
  const { timeoutMs = 60_000, maxRetryDelayMs = 30_000 } = options;
  assertDurations({ timeoutMs }, 1);
  assertDurations({ maxRetryDelayMs }, 0);
  return {
    model,
    apiKey: optionalText('apiKey', options.apiKey),
    baseURL: optionalText('baseUrl', options.baseUrl),
    price,
    timeoutMs,
    maxRetries: nonNegativeInteger('maxRetries', options.maxRetries ?? 2),
    maxRetryDelayMs,
    onNotice: onNotice ?? (() => {}),
    body: body ?? {},
  };
}

function optionalText(name: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw new TypeError(`${name} must be a non-empty string`);
}

/** Returns a member of the body as an object to extend. */
export function memberOf(body: Readonly<Record<string, unknown>>, name: string): object {
  const member = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof member === 'object' && member !== null ? member : {};
}

function nonNegativeInteger(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new TypeError(`${name} must be a non-negative integer; got ${anyText(value)}`);
}

function checkPrice(price: ProviderPrice): void {
  for (const name of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) {
    const value = price?.[name];
    if (value === undefined && name.startsWith('cache')) continue;
    if (typeof value !== 'number' || !(value >= 0) || value === Number.POSITIVE_INFINITY) {
      throw new TypeError(`price.${name} must be US dollars per million tokens`);
    }
  }
}

/**
 * The code of a `ModelNotice`. `constraint-refused`: the provider rejects a constraint on the output; later requests use the next one.
 * `grammar-unavailable`: the grammar for this request could not be made; the request uses the next constraint.
 */
export type ModelNoticeCode = 'constraint-refused' | 'grammar-unavailable';

/** A notice about a request that was sent differently than configured. */
export interface ModelNotice {
  /** The kind of the notice. */
  readonly code: ModelNoticeCode;
  /** The notice as one or two sentences. */
  readonly message: string;
  /** The name of the provider: `anthropic`, `openai`, or the host of another server. */
  readonly provider: string;
  /** The constraint that is no longer used. */
  readonly from: string;
  /** The constraint that replaces it. */
  readonly to: string;
}

/** A price in US dollars per million tokens, as in the price list of the provider. */
export interface ProviderPrice extends ModelPrice {
  /** The price of input tokens that are read from the provider's cache. @default that of `input` */
  readonly cacheRead?: number | undefined;
  /** The price of input tokens that are written to the provider's cache. @default that of `input` */
  readonly cacheWrite?: number | undefined;
}

/** Tokens that the provider charges for. `inputTokens` includes those of the cache. */
interface BilledUsage extends ModelUsage {
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens?: number | undefined;
}

/** Returns the cost of a reply in US dollars, or `null` if the price or the usage is unknown. */
function costOf(usage: ProviderReply['usage'], price: ProviderPrice | undefined): number | null {
  if (!usage || price === undefined) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens = 0 } = usage;
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  const fresh = inputTokens - cacheReadTokens - cacheWriteTokens;
  const millionths =
    fresh * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output;
  return millionths / 1e6;
}

export interface ProviderReply {
  readonly text: string;
  readonly isRefusal: boolean;
  /** `true` if the output reached the limit of tokens. */
  readonly isCut: boolean;
  readonly model: string | null | undefined;
  readonly usage: BilledUsage | null | undefined;
}

interface Provider<Client, Name extends string, Body, Answer> {
  /** The name of the provider in messages. */
  readonly name: string;
  /** The constraints, strictest first. The last one must not depend on the provider. */
  readonly constraints: readonly Constraint<Name>[];
  readonly connect: () => Promise<Client>;
  /** Makes the body of a request. */
  readonly body: (request: ModelRequest, constraint: Name, grammar: string | null) => Body;
  readonly send: (client: Client, body: Body, options: SdkRequestOptions) => PromiseLike<unknown>;
  /** The schema of a reply, and its name in errors. */
  readonly schema: z.ZodType<Answer>;
  readonly noun: string;
  readonly read: (answer: Answer, context: CallContext) => ProviderReply;
}

export function createModel<Client extends object, Name extends string, Body, Answer>(
  { timeoutMs, maxRetries, price, onNotice, apiKey }: ProviderSettings,
  { name, constraints, connect, body, send, schema, noun, read }: Provider<Client, Name, Body, Answer>,
): ProviderModel {
  const ask = withConstraints(name, constraints, onNotice);
  const connected = once(connect);
  // The SDKs pass it to a timer, which fires immediately if it is longer.
  const sdkTimeout = Math.min(timeoutMs, LONGEST_TIMER);

  return async (request) => {
    const { signal } = request;
    let context: CallContext = { provider: name, secrets: [], signal };
    try {
      const client = await connected();
      const secrets = [apiKey, (client as { readonly apiKey?: unknown }).apiKey].filter(isSecret);
      context = { ...context, secrets };
      const answer = await ask(
        request,
        (constraint, grammar) =>
          unlessAborted(signal, (own) =>
            send(client, body(request, constraint, grammar), { signal: own, timeout: sdkTimeout, maxRetries }),
          ),
        (thrown) => modelErrorOf(thrown, context).message,
      );
      const result = schema.safeParse(answer);
      if (!result.success) throw badReply(name, `that is not a ${noun}`);
      const { isRefusal, isCut, text, model, usage } = read(result.data, context);
      return {
        text: isRefusal ? '' : text,
        finish: isRefusal ? 'refusal' : isCut ? 'length' : 'stop',
        model: model ?? undefined,
        usage: usage ? { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } : undefined,
        cost: costOf(usage, price),
      };
    } catch (thrown) {
      throw modelErrorOf(thrown, context);
    }
  };
}

/** A placeholder key, since the SDK requires one. */
export const NO_KEY = 'none';

function isSecret(key: unknown): key is string {
  return typeof key === 'string' && key !== NO_KEY;
}

interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Returns the conversation without the system message. Providers reject empty messages. */
export function conversation({ prompt, repair }: ModelRequest): ChatMessage[] {
  const messages: ChatMessage[] = [{ role: 'user', content: prompt }];
  if (repair === null) return messages;
  if (repair.reply.trim() !== '') messages.push({ role: 'assistant', content: repair.reply });
  messages.push({ role: 'user', content: repair.prompt });
  return messages;
}

export function instructions({ system }: ModelRequest, form: string | null): string {
  return form === null ? system : `${system}\n\n${form}`;
}

type Part = Readonly<Record<string, unknown>>;

/** Returns the inputs of all calls of the tool, which `readReply` compares; if there are none, all text. */
export function textOf(
  calls: readonly Part[],
  callType: string,
  inputOf: (input: unknown) => string,
  parts: readonly Part[],
  textType: string,
): string {
  const inputs = calls.filter(({ type, name }) => type === callType && name === PACKET);
  if (inputs.length > 0) return inputs.map(({ input }) => inputOf(input)).join('\n');
  return parts.map(({ type, text }) => (type === textType && typeof text === 'string' ? text : '')).join('');
}

/** Completes the message about a reply that is not marked as complete. */
export const UNFINISHED = 'that is incomplete';

export function badReply(provider: string, what: string): ModelError {
  return new ModelError({ code: 'model-bad-reply', message: `${provider} sent a reply ${what}.` });
}

export interface Constraint<Name extends string> {
  readonly name: Name;
  /** The notation of the grammar that it requires; `null` if it requires none. */
  readonly notation: GrammarNotation | null;
  /** Words in lower case. An error that contains one of them is about this constraint. */
  readonly words: readonly string[];
}

export const UNCONSTRAINED: Constraint<'none'> = { name: 'none', notation: null, words: [] };

/** Returns the constraints to a JSON object, with a pattern for its packet if the provider supports it. */
export function jsonConstraints(
  words: readonly string[],
): readonly Constraint<'json-schema' | 'json-object' | 'none'>[] {
  return [
    { name: 'json-schema', notation: 'regex', words },
    { name: 'json-object', notation: null, words },
    UNCONSTRAINED,
  ];
}

/** The statuses with which servers reject unknown options. */
const REJECTING = [400, 404, 422, 501];

/**
 * Returns a function that calls the model with the strictest constraint that was not rejected, then with the next. A rejection is
 * remembered once a request with a later constraint has succeeded.
 */
function withConstraints<Name extends string>(
  provider: string,
  constraints: readonly Constraint<Name>[],
  onNotice: (notice: ModelNotice) => void,
) {
  let current = 0;

  function notify(code: ModelNotice['code'], from: number, to: number, reason: string): void {
    const names = { from: constraints[from]!.name, to: constraints[to]!.name };
    const scope = code === 'constraint-refused' ? 'The next requests use it too' : 'Only this request uses it';
    const message = `The constraint ${names.to} replaces ${names.from}. ${scope}. ${reason}`;
    try {
      onNotice({ code, message, provider, ...names });
    } catch {
      // A listener that throws must not discard a reply that is paid for.
    }
  }

  return async <T>(
    request: ModelRequest,
    attempt: (name: Name, grammar: string | null) => Promise<T>,
    explain: (thrown: unknown) => string,
  ): Promise<T> => {
    let refusal: string | null = null;
    for (let index = current; ; index++) {
      const { name, notation, words } = constraints[index]!;
      const isLast = index === constraints.length - 1;
      let grammar: string | null = null;
      try {
        if (notation !== null) grammar = await request.grammar(notation);
      } catch (thrown) {
        if (isLast) throw thrown;
        notify('grammar-unavailable', index, index + 1, thrown instanceof Error ? thrown.message : String(thrown));
        continue;
      }
      try {
        const answer = await attempt(name, grammar);
        // A concurrent request may have changed it meanwhile.
        if (refusal !== null && index > current) {
          const from = current;
          current = index;
          notify('constraint-refused', from, index, refusal);
        }
        return answer;
      } catch (thrown) {
        if (isLast || !rejects(httpFaultOf(thrown), words)) throw thrown;
        refusal = explain(thrown);
      }
    }
  };
}

/** Returns whether an error is about the constraint, or may be, since it has no message. */
function rejects(fault: HttpFault | null, words: readonly string[]): boolean {
  if (fault === null || !REJECTING.includes(fault.status)) return false;
  const { status, message, parameter } = fault;
  if (message === '' && parameter === null) return status !== 404;
  const described = `${parameter ?? ''} ${message}`.toLowerCase();
  return words.some((word) => described.includes(word));
}

/** Memoizes a promise. A rejected one is made again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    if (made === null) {
      made = make();
      made.catch(() => {
        made = null;
      });
    }
    return made;
  };
}

export async function loadSdk<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown };
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' && String(message).includes(name);
    const reason = isMissing ? 'is not installed' : 'cannot be loaded';
    throw new ModelError(
      { code: 'model-not-installed', message: `The package ${name} ${reason}.`, help: `npm install ${name}` },
      { cause },
    );
  }
}

/** Returns the options of a client. If they are `undefined`, the SDK reads the environment. */
export function clientOptions({ apiKey, baseURL, maxRetryDelayMs }: ProviderSettings) {
  return { apiKey, baseURL, fetch: wholeReplyFetch(maxRetryDelayMs), logLevel: 'off' } as const;
}

const NO_BODY = [204, 205, 304];

/**
 * Makes a `fetch` that resolves with the complete reply, since the timeout and the retries of the SDKs cover its headers only. Retries do
 * not wait longer than `maxRetryDelayMs`.
 */
function wholeReplyFetch(maxRetryDelayMs: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText } = response;
    // `Response` cannot be constructed with a nonexistent status.
    if (status < 200 || status > 599) return response;
    const headers = new Headers(response.headers);
    const delay = response.ok ? null : retryAfterMsOf(headers);
    // Both SDKs obey this header. Without it, they wait as long as the server requests.
    if (delay !== null && delay > maxRetryDelayMs) headers.set('x-should-retry', 'false');
    const body = await new Response(abortableBody(response.body, init?.signal)).arrayBuffer();
    return new Response(NO_BODY.includes(status) ? null : body, { status, statusText, headers });
  };
}
