/** What all providers can be told. */
import type { ModelNotice } from './notice.js';
import type { ProviderPrice } from './price.js';

export interface ProviderOptions {
  /** The name of the model, as the provider has it. */
  readonly model: string;
  /** What tokens cost. Without it, the cost of a reply is not known. */
  readonly price?: ProviderPrice | undefined;
  /**
   * Milliseconds that one attempt may take, the body of the reply included; with a client of your own, as far as that one
   * heeds it. @default 60000
   */
  readonly timeout?: number | undefined;
  /** How often the SDK tries again what is worth it: no connection, 408, 409, 429, 5xx. @default 2 */
  readonly maxRetries?: number | undefined;
  /**
   * Milliseconds that the SDK may wait before it tries again; when the provider asks for more, it is an error. Not for a client
   * of your own. @default 30000
   */
  readonly maxRetryWait?: number | undefined;
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

/** The options after defaults. */
export interface ProviderSettings {
  readonly model: string;
  readonly price: ProviderPrice | undefined;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetryWait: number;
  readonly onNotice: (notice: ModelNotice) => void;
  readonly body: Readonly<Record<string, unknown>>;
}

/** @throws TypeError that names the option */
export function resolveProvider(options: ProviderOptions): ProviderSettings {
  if (typeof options !== 'object' || options === null) throw new TypeError('options must be an object');
  const { model, price, onNotice, body } = options;
  if (typeof model !== 'string' || model === '') throw new TypeError('model must be the name of a model');
  if (onNotice !== undefined && typeof onNotice !== 'function') throw new TypeError('onNotice must be a function');
  if (body !== undefined && (typeof body !== 'object' || body === null)) throw new TypeError('body must be an object');
  if (price !== undefined) checkPrice(price);
  return {
    model,
    price,
    timeout: whole('timeout', options.timeout ?? 60_000, 1),
    maxRetries: whole('maxRetries', options.maxRetries ?? 2, 0),
    maxRetryWait: whole('maxRetryWait', options.maxRetryWait ?? 30_000, 0),
    onNotice: onNotice ?? (() => {}),
    body: body ?? {},
  };
}

/** @throws TypeError that names the option */
export function optionalText(name: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw new TypeError(`${name} must be a text that is not empty`);
}

/** An object's member, as far as there is one to build on. */
export function memberOf(body: Readonly<Record<string, unknown>>, name: string): object {
  const member = Object.hasOwn(body, name) ? body[name] : undefined;
  return typeof member === 'object' && member !== null ? member : {};
}

function whole(name: string, value: unknown, least: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) < 2 ** 31) return value as number;
  throw new TypeError(`${name} must be a whole number from ${least} on`);
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
