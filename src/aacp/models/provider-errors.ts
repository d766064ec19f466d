import { systemReason } from '../../text/system-reason.js';
import { visible } from '../../text/visible.js';
import { abortError, ModelError, type ModelErrorCode } from './model.js';

/** The context of a call. */
export interface CallContext {
  readonly provider: string;
  /** Texts that must not appear in messages. */
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
}

/** The maximum length of a message of the provider, in characters. */
const MAX_MESSAGE = 300;

/** Error codes of the providers that are more specific than the status. */
const BY_CODE: Readonly<Record<string, ModelErrorCode>> = {
  // Sent with status 429, but waiting does not help.
  insufficient_quota: 'model-unauthorised',
  overloaded_error: 'model-unavailable',
  server_error: 'model-unavailable',
  rate_limit_exceeded: 'model-rate-limited',
};

/** Converts an error of an SDK. Omits the cause, which may contain the key. */
export function modelErrorOf(thrown: unknown, context: CallContext): ModelError {
  if (thrown instanceof ModelError) return thrown;
  if (context.signal.aborted) return abortError(context.signal);
  const fault = httpFaultOf(thrown);
  return fault === null ? errorWithoutReply(thrown, context) : errorOfReply(fault, context);
}

export function errorOfReply(fault: HttpFault, { provider, secrets }: CallContext): ModelError {
  const { status, message, retryAfterMs, requestId, code: name } = fault;
  const code = (name !== null && Object.hasOwn(BY_CODE, name) && BY_CODE[name]) || codeOfStatus(status);
  // The provider may repeat the key that it rejects.
  const shownMessage = code === 'model-unauthorised' ? '' : shown(message, secrets);
  const request = requestId === null ? '' : ` (request ${shown(requestId, secrets)})`;
  return new ModelError(
    {
      code,
      message: `${provider} replied with status ${status}${request}${shownMessage === '' ? '.' : `: ${shownMessage}`}`,
      help:
        code === 'model-unauthorised' ? 'check the API key, and the permissions and credit of its account' : undefined,
    },
    { retryAfterMs },
  );
}

function codeOfStatus(status: number): ModelErrorCode {
  if (status === 401 || status === 402 || status === 403) return 'model-unauthorised';
  if (status === 408) return 'model-timeout';
  if (status === 429) return 'model-rate-limited';
  if (status >= 500) return 'model-unavailable';
  return status >= 400 ? 'model-bad-request' : 'model-bad-reply';
}

function errorWithoutReply(thrown: unknown, { provider, secrets }: CallContext): ModelError {
  const names = classNames(thrown);
  const message = String(member(thrown, 'message') ?? '');
  const is = (name: string, usual: string): boolean => names.includes(name) || message === usual;
  const error = (code: ModelErrorCode, text: string, help?: string): ModelError =>
    new ModelError({ code, message: text, help });

  if (is('APIConnectionTimeoutError', 'Request timed out.')) {
    return error('model-timeout', `${provider} did not reply in time.`);
  }
  if (is('APIUserAbortError', 'Request was aborted.')) return error('model-aborted', 'The request was aborted.');
  if (is('APIConnectionError', 'Connection error.') || message === 'terminated' || message === 'fetch failed') {
    return error('model-unavailable', `Cannot connect to ${provider}: ${shown(systemReason(thrown), secrets)}`);
  }
  if (/credential|authentication|api ?key/i.test(message)) {
    return error('model-unauthorised', `There is no API key for ${provider}.`, 'set the option apiKey');
  }
  // The SDKs parse replies without validating them.
  if (names.includes('SyntaxError') || names.includes('TypeError')) {
    return error('model-bad-reply', `${provider} sent a reply that does not follow its protocol.`);
  }
  return error('model-unavailable', `The call of ${provider} failed: ${shown(message, secrets)}`);
}

/** Returns the names of the classes of an error, which may come from another copy of the SDK. */
function classNames(thrown: unknown): readonly string[] {
  const names: string[] = [];
  let prototype: unknown = typeof thrown === 'object' && thrown !== null ? Object.getPrototypeOf(thrown) : null;
  while (typeof prototype === 'object' && prototype !== null) {
    const name = (prototype as { readonly constructor?: { readonly name?: unknown } }).constructor?.name;
    if (typeof name === 'string') names.push(name);
    prototype = Object.getPrototypeOf(prototype);
  }
  return names;
}

function shown(message: string, secrets: readonly string[]): string {
  const safe = visible(redacted(message.slice(0, 10 * MAX_MESSAGE), secrets));
  return safe.length > MAX_MESSAGE ? `${safe.slice(0, MAX_MESSAGE)}...` : safe;
}

export interface HttpFault {
  readonly status: number;
  /** Empty if the reply has no message. */
  readonly message: string;
  readonly parameter: string | null;
  readonly code: string | null;
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
}

/** Reads the status and the error of a reply. Returns `null` if no server replied. */
export function httpFaultOf(thrown: unknown): HttpFault | null {
  const status = member(thrown, 'status');
  if (typeof status !== 'number') return null;
  const error = innermost(member(thrown, 'error'));
  const headers = member(thrown, 'headers');
  return {
    status,
    message: text(member(error, 'message')) ?? plainMessage(member(thrown, 'message'), status),
    parameter: text(member(error, 'param')),
    code: text(member(error, 'code')) ?? text(member(error, 'type')),
    retryAfterMs: isHeaders(headers) ? retryAfterMsOf(headers) : null,
    requestId: text(member(thrown, 'requestID')),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Returns the error in the body of a reply. One SDK exposes the body, the other its member `error`. */
function innermost(error: unknown): unknown {
  const inner = member(error, 'error');
  return typeof inner === 'object' && inner !== null ? inner : error;
}

/** Removes the status, which the SDKs prepend, and their text for replies without a message. */
function plainMessage(message: unknown, status: number): string {
  const full = text(message) ?? '';
  const plain = full.startsWith(`${status} `) ? full.slice(`${status} `.length) : full;
  return plain === 'status code (no body)' ? '' : plain;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function isHeaders(value: unknown): value is Pick<Headers, 'get'> {
  return typeof member(value, 'get') === 'function';
}

/** API keys in the usual forms: `sk-...`, `Bearer ...`. */
const KEYS = /\b(?:sk|gsk|xai|nvapi)-[\w-]{6,}|\bBearer\s+\S+/gi;

/** The user and password in a URL. */
const CREDENTIALS = /\/\/[^\s/@]*@/g;

function redacted(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) if (secret !== '') shown = shown.replaceAll(secret, '[key]');
  return shown.replace(KEYS, '[key]').replace(CREDENTIALS, '//');
}

/**
 * Returns the delay in milliseconds that `retry-after-ms` or `retry-after` requests. The latter contains seconds or a date, which is
 * compared with the date of the reply, not with the local clock. Source: RFC 9110, section 10.2.3.
 */
export function retryAfterMsOf(headers: Pick<Headers, 'get'>): number | null {
  const milliseconds = decimal(headers.get('retry-after-ms'));
  if (milliseconds !== null) return milliseconds;
  const value = headers.get('retry-after');
  const seconds = decimal(value);
  if (seconds !== null) return seconds * 1000;
  const delay = Date.parse(value ?? '') - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(delay) ? null : Math.max(0, delay);
}

function decimal(value: string | null): number | null {
  return value !== null && /^[0-9]{1,12}(?:\.[0-9]{1,9})?$/.test(value.trim()) ? Number(value) : null;
}
