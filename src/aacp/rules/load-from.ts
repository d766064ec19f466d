/** Rule libraries from elsewhere: pinned, for who serves them could serve others tomorrow. */
import { systemReason } from '../../text/system-reason.js';
import type { EncodeStep } from './check-rule.js';
import { RulesError } from './errors.js';
import type { RuleLibrary } from './library.js';
import { type LoadRulesOptions, readRules } from './load.js';
import { checkedPin, checkPin } from './pin.js';
import { textOf } from './text-of.js';

export interface LoadRulesFromOptions extends LoadRulesOptions {
  /** The SHA-256 of the file as it was when somebody looked at it, 64 hexadecimal digits. */
  readonly sha256: string;
  /** @default the platform's */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The most bytes that are read. @default 16777216 */
  readonly maxBytes?: number | undefined;
}

/** Loads rules by http or https: `loadRulesFrom`, with the default of `encodeStep`. */
export async function readRulesFrom(
  url: string | URL,
  options: LoadRulesFromOptions,
  ownSteps: EncodeStep | null,
): Promise<RuleLibrary> {
  const { sha256, fetch = globalThis.fetch, signal, maxBytes = 16_777_216, ...rest } = options ?? {};
  const pin = checkedPin(sha256);
  const address = checkedAddress(url);
  if (typeof fetch !== 'function') throw new TypeError('fetch is a function');
  if (!(Number.isInteger(maxBytes) && maxBytes > 0)) throw new TypeError('maxBytes is a whole number above 0');
  const bytes = await load(address, fetch, signal, maxBytes);
  checkPin(bytes, pin);
  return readRules(textOf(bytes), rest, ownSteps);
}

function checkedAddress(url: unknown): URL {
  const address = URL.canParse(String(url)) ? new URL(String(url)) : null;
  if (address?.protocol === 'http:' || address?.protocol === 'https:') return address;
  throw new TypeError('url is an address that begins with http: or https:');
}

async function load(
  url: URL,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  try {
    const response = await fetch(url, signal === undefined ? {} : { signal });
    if (!response.ok) throw unavailable(url, `the server answers ${response.status}`);
    return await readBody(response, maxBytes);
  } catch (cause) {
    if (cause instanceof RulesError || signal?.aborted === true) throw cause;
    throw unavailable(url, systemReason(cause), cause);
  }
}

async function readBody({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop closes the stream.
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    if (length > maxBytes) {
      throw new RulesError({
        code: 'rules-too-large',
        message: `The rules have more than ${maxBytes} bytes.`,
        help: 'raise maxBytes, if that is as it should be',
      });
    }
    pieces.push(piece);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

/** Without what is secret in an address: user, password, query. */
function unavailable(url: URL, why: string, cause?: unknown): RulesError {
  const place = `${url.origin}${url.pathname}`;
  return new RulesError(
    { code: 'rules-unavailable', message: `The rules at ${place} cannot be loaded: ${why}.` },
    { cause },
  );
}
