/** Everything that an SDK throws, as a `ModelError`. */
import { systemReason } from '../../text/system-reason.js';
import { visible } from '../../text/visible.js';
import { abortError } from './abort.js';
import { ModelError, type ModelErrorCode } from './errors.js';
import { type HttpFault, httpFaultOf, member } from './http-fault.js';
import { redacted } from './redact.js';

export interface Asked {
  /** How the provider is called in messages. */
  readonly provider: string;
  /** What no message may show. */
  readonly secrets: readonly string[];
  readonly signal: AbortSignal;
}

/** Characters of what a provider says that are repeated. */
const MAX_TOLD = 300;

/** Codes of providers that say more than the status does. */
const BY_CODE: Readonly<Record<string, ModelErrorCode>> = {
  // With the status 429; no waiting helps.
  insufficient_quota: 'model-unauthorised',
  overloaded_error: 'model-unavailable',
  server_error: 'model-unavailable',
  rate_limit_exceeded: 'model-rate-limited',
};

/** Without the thrown error as its cause, which may hold the key. */
export function modelErrorOf(thrown: unknown, asked: Asked): ModelError {
  if (thrown instanceof ModelError) return thrown;
  if (asked.signal.aborted) return abortError(asked.signal);
  const fault = httpFaultOf(thrown);
  return fault === null ? withoutAnswer(thrown, asked) : fromAnswer(fault, asked);
}

/** For an answer that says that something is wrong, with whatever status. */
export function fromAnswer(fault: HttpFault, { provider, secrets }: Asked): ModelError {
  const { status, message, retryAfter, requestId, code: name } = fault;
  const code = (name !== null && Object.hasOwn(BY_CODE, name) && BY_CODE[name]) || codeOfStatus(status);
  // A provider may show the key that it does not take.
  const told = code === 'model-unauthorised' ? '' : shown(message, secrets);
  const request = requestId === null ? '' : ` (request ${shown(requestId, secrets)})`;
  const help = HELP[code];
  return new ModelError(
    {
      code,
      message: `${provider} answered with status ${status}${request}${told === '' ? '.' : `: ${told}`}`,
      ...(help === undefined ? {} : { help }),
    },
    { retryAfter },
  );
}

const HELP: Readonly<Partial<Record<ModelErrorCode, string>>> = {
  'model-unauthorised': 'check the API key, and what its account may use and pay for',
};

function codeOfStatus(status: number): ModelErrorCode {
  if (status === 401 || status === 402 || status === 403) return 'model-unauthorised';
  if (status === 408) return 'model-timeout';
  if (status === 429) return 'model-rate-limited';
  if (status >= 500) return 'model-unavailable';
  return status >= 400 ? 'model-bad-request' : 'model-bad-reply';
}

function withoutAnswer(thrown: unknown, { provider, secrets }: Asked): ModelError {
  const names = classNames(thrown);
  const message = String(member(thrown, 'message') ?? '');
  const is = (name: string, usual: string): boolean => names.includes(name) || message === usual;
  const error = (code: ModelErrorCode, text: string, help?: string): ModelError =>
    new ModelError({ code, message: text, ...(help === undefined ? {} : { help }) });

  if (is('APIConnectionTimeoutError', 'Request timed out.')) {
    return error('model-timeout', `${provider} did not answer in time.`);
  }
  if (is('APIUserAbortError', 'Request was aborted.')) return error('model-aborted', 'The request was given up.');
  if (is('APIConnectionError', 'Connection error.') || message === 'terminated' || message === 'fetch failed') {
    return error('model-unavailable', `There is no connection to ${provider}: ${shown(systemReason(thrown), secrets)}`);
  }
  if (/credential|authentication|api ?key/i.test(message)) {
    return error('model-unauthorised', `There is no API key for ${provider}.`, 'give the option apiKey');
  }
  // The SDKs take a reply apart without looking at it first.
  if (names.includes('SyntaxError') || names.includes('TypeError')) {
    return error('model-bad-reply', `${provider} sent a reply that is not what its protocol says.`);
  }
  return error('model-unavailable', `${provider} could not be asked: ${shown(message, secrets)}`);
}

/** Names instead of classes: an error may come from another copy of the SDK than the one that is installed here. */
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
  const safe = visible(redacted(message.slice(0, 10 * MAX_TOLD), secrets));
  return safe.length > MAX_TOLD ? `${safe.slice(0, MAX_TOLD)}...` : safe;
}
