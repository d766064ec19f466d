/** The common part of all providers: constraints, errors, cost. */
import type * as z from 'zod';
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
import { type Asked, type HttpFault, httpFaultOf, modelErrorOf, retryAfterMsOf } from './provider-errors.js';

/** What all providers can be told. */
export interface ProviderOptions {
  /** The name of the model, as the provider has it. */
  readonly model: string;
  /** @default the environment's, as the SDK finds it; none for `openaiCompatibleModel`, which is another one's server */
  readonly apiKey?: string | undefined;
  /** Up to and with the version: `http://127.0.0.1:8080/v1`. @default the SDK's; `openaiCompatibleModel` needs it, or a client */
  readonly baseUrl?: string | undefined;
  /** What tokens cost. Without it, the cost of a reply is not known. */
  readonly price?: ProviderPrice | undefined;
  /** Milliseconds after which one attempt times out, the body of the reply included; `Infinity` is never. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** How often the SDK tries again what is worth it: no connection, 408, 409, 429, 5xx. @default 2 */
  readonly maxRetries?: number | undefined;
  /**
   * Longest delay between retries in milliseconds: if the provider asks for a longer one, the request fails with a ModelError.
   * `Infinity` accepts any delay. Does not apply to your own `client`. @default 30000
   */
  readonly maxRetryDelayMs?: number | undefined;
  /** Told that something is not as it was asked for. */
  readonly onNotice?: ((notice: ModelNotice) => void) | undefined;
  /** Further members of the request's body, in the provider's own words: `{ reasoning: { effort: 'low' } }`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** What goes with each request to an SDK. Only what both know. */
export interface SdkRequestOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
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
  return {
    model,
    apiKey: optionalText('apiKey', options.apiKey),
    baseURL: optionalText('baseUrl', options.baseUrl),
    price,
    timeoutMs: duration('timeoutMs', options.timeoutMs ?? 60_000, 1),
    maxRetries: nonNegativeInteger('maxRetries', options.maxRetries ?? 2),
    maxRetryDelayMs: duration('maxRetryDelayMs', options.maxRetryDelayMs ?? 30_000, 0),
    onNotice: onNotice ?? (() => {}),
    body: body ?? {},
  };
}

function optionalText(name: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw new TypeError(`${name} must be a text that is not empty`);
}

/** A member of the body as an object to extend. */
export function memberOf(body: Readonly<Record<string, unknown>>, name: string): object {
  const member = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof member === 'object' && member !== null ? member : {};
}

function nonNegativeInteger(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new TypeError(`${name} must be a non-negative integer; got ${anyText(value)}`);
}

function duration(name: string, value: unknown, least: number): number {
  if (typeof value === 'number' && value >= least) return value;
  throw new TypeError(
    `${name} must be a number of milliseconds, at least ${least}, or Infinity; got ${anyText(value)}`,
  );
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
 * - `constraint-refused`: the provider refuses a constraint on the output; the next one is used from now on.
 * - `grammar-unavailable`: the grammar for this request could not be made; it goes without.
 */
export type ModelNoticeCode = 'constraint-refused' | 'grammar-unavailable';

/** Something that did not stop the request. */
export interface ModelNotice {
  readonly code: ModelNoticeCode;
  /** One or two sentences. */
  readonly message: string;
  /** `anthropic`, `openai`, or the base URL of another server. */
  readonly provider: string;
  /** The constraint that is given up, and the one that takes its place. */
  readonly from: string;
  readonly to: string;
}

/** US dollars per million tokens, as the provider's price list has them. */
export interface ProviderPrice extends ModelPrice {
  /** Input tokens that come from the provider's cache. @default as `input` */
  readonly cacheRead?: number | undefined;
  /** Input tokens that are put into the provider's cache. @default as `input` */
  readonly cacheWrite?: number | undefined;
}

/** Tokens as billed; `inputTokens` include those of the cache. */
interface BilledUsage extends ModelUsage {
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens?: number | undefined;
}

/** `null` if the price or the usage is unknown. */
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
  /** It stopped at the limit of tokens. */
  readonly isCut: boolean;
  readonly model: string | null | undefined;
  readonly usage: BilledUsage | null | undefined;
}

interface Provider<Client, Name extends string, Body, Answer> {
  /** Name in messages. */
  readonly name: string;
  /** Strictest first; the last one must need nothing of the provider. */
  readonly constraints: readonly Constraint<Name>[];
  readonly connect: () => Promise<Client>;
  /** Makes the body of a request. */
  readonly body: (request: ModelRequest, constraint: Name, grammar: string | null) => Body;
  readonly send: (client: Client, body: Body, options: SdkRequestOptions) => PromiseLike<unknown>;
  /** Schema of a reply, and its name in an error. */
  readonly schema: z.ZodType<Answer>;
  readonly noun: string;
  readonly read: (answer: Answer, asked: Asked) => ProviderReply;
}

export function createModel<Client extends object, Name extends string, Body, Answer>(
  { timeoutMs, maxRetries, price, onNotice, apiKey }: ProviderSettings,
  { name, constraints, connect, body, send, schema, noun, read }: Provider<Client, Name, Body, Answer>,
): ProviderModel {
  const ask = createLadder(name, constraints, onNotice);
  const connected = once(connect);
  // The SDKs hand it to a timer, which fires at once if it is longer.
  const sdkTimeout = Math.min(timeoutMs, LONGEST_TIMER);

  return async (request) => {
    const { signal } = request;
    let asked: Asked = { provider: name, secrets: [], signal };
    try {
      const client = await connected();
      const secrets = [apiKey, (client as { readonly apiKey?: unknown }).apiKey].filter(isSecret);
      asked = { ...asked, secrets };
      const answer = await ask(
        request,
        (constraint, grammar) =>
          unlessAborted(signal, (own) =>
            send(client, body(request, constraint, grammar), { signal: own, timeout: sdkTimeout, maxRetries }),
          ),
        (thrown) => modelErrorOf(thrown, asked).message,
      );
      const result = schema.safeParse(answer);
      if (!result.success) throw badReply(name, `that is no ${noun}`);
      const { isRefusal, isCut, text, model, usage } = read(result.data, asked);
      return {
        text: isRefusal ? '' : text,
        finish: isRefusal ? 'refusal' : isCut ? 'length' : 'stop',
        model: model ?? undefined,
        usage: usage ? { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } : undefined,
        cost: costOf(usage, price),
      };
    } catch (thrown) {
      throw modelErrorOf(thrown, asked);
    }
  };
}

/** A placeholder key, since the SDK requires one. */
export const NO_KEY = 'none';

function isSecret(key: unknown): key is string {
  return typeof key === 'string' && key !== NO_KEY;
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The conversation without the system message. Providers reject empty turns. */
export function conversation({ prompt, repair }: ModelRequest): Turn[] {
  const turns: Turn[] = [{ role: 'user', content: prompt }];
  if (repair === null) return turns;
  if (repair.reply.trim() !== '') turns.push({ role: 'assistant', content: repair.reply });
  turns.push({ role: 'user', content: repair.prompt });
  return turns;
}

export function instructions({ system }: ModelRequest, form: string | null): string {
  return form === null ? system : `${system}\n\n${form}`;
}

type Part = Readonly<Record<string, unknown>>;

/** The inputs of all calls of the tool, of which `readReply` takes one; or all text. */
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

/** For a reply whose end the provider has not marked, which may be partial. */
export const UNFINISHED = 'that is not finished';

export function badReply(provider: string, what: string): ModelError {
  return new ModelError({ code: 'model-bad-reply', message: `${provider} sent a reply ${what}.` });
}

export interface Constraint<Name extends string> {
  readonly name: Name;
  /** The grammar that it needs. */
  readonly notation: GrammarNotation | null;
  /** Lower-case words; an error with one of them is about this constraint. */
  readonly words: readonly string[];
}

export const UNCONSTRAINED: Constraint<'none'> = { name: 'none', notation: null, words: [] };

/** An object in JSON, with a pattern for its packet if the server takes one. */
export function jsonConstraints(
  words: readonly string[],
): readonly Constraint<'json-schema' | 'json-object' | 'none'>[] {
  return [
    { name: 'json-schema', notation: 'regex', words },
    { name: 'json-object', notation: null, words },
    UNCONSTRAINED,
  ];
}

/** Statuses with which servers reject unknown options. */
const REFUSING = [400, 404, 422, 501];

/**
 * Returns a function that asks with the strictest constraint that was not refused, then with the next. It remembers a
 * refusal once a later constraint has got an answer.
 */
function createLadder<Name extends string>(
  provider: string,
  constraints: readonly Constraint<Name>[],
  onNotice: (notice: ModelNotice) => void,
) {
  let current = 0;

  function tell(code: ModelNotice['code'], from: number, to: number, reason: string): void {
    const names = { from: constraints[from]!.name, to: constraints[to]!.name };
    const until = code === 'constraint-refused' ? 'from now on' : 'for this request';
    const message = `The constraint ${names.from} gives way to ${names.to} ${until}. ${reason}`;
    try {
      onNotice({ code, message, provider, ...names });
    } catch {
      // Whoever listens badly does not lose a reply that is paid for.
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
        tell('grammar-unavailable', index, index + 1, thrown instanceof Error ? thrown.message : String(thrown));
        continue;
      }
      try {
        const answer = await attempt(name, grammar);
        // Another request may have found out in the meantime.
        if (refusal !== null && index > current) {
          const from = current;
          current = index;
          tell('constraint-refused', from, index, refusal);
        }
        return answer;
      } catch (thrown) {
        if (isLast || !refuses(httpFaultOf(thrown), words)) throw thrown;
        refusal = explain(thrown);
      }
    }
  };
}

/** Returns whether an error is, or may be, about the constraint: it may say nothing at all. */
function refuses(fault: HttpFault | null, words: readonly string[]): boolean {
  if (fault === null || !REFUSING.includes(fault.status)) return false;
  const { status, message, parameter } = fault;
  if (message === '' && parameter === null) return status !== 404;
  const told = `${parameter ?? ''} ${message}`.toLowerCase();
  return words.some((word) => told.includes(word));
}

/** Memoises a promise; a rejected one is made again. */
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

/** `undefined` options come from the environment. */
export function clientOptions({ apiKey, baseURL, maxRetryDelayMs }: ProviderSettings) {
  return { apiKey, baseURL, fetch: wholeReplyFetch(maxRetryDelayMs), logLevel: 'off' } as const;
}

const NO_BODY = [204, 205, 304];

/**
 * A `fetch` that resolves with the whole reply: the time-out and retries of the SDKs end with its head. Retries do not
 * wait longer than `maxRetryDelayMs`.
 */
function wholeReplyFetch(maxRetryDelayMs: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText } = response;
    // `Response` cannot be constructed with a nonexistent status.
    if (status < 200 || status > 599) return response;
    const headers = new Headers(response.headers);
    const delay = response.ok ? null : retryAfterMsOf(headers);
    // Both SDKs heed this header; otherwise they wait as long as the server says.
    if (delay !== null && delay > maxRetryDelayMs) headers.set('x-should-retry', 'false');
    const body = await response.arrayBuffer();
    return new Response(NO_BODY.includes(status) ? null : body, { status, statusText, headers });
  };
}
