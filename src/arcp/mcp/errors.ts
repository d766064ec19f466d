/** Errors of MCP requests, as errors of ARCP. */
import { isRecord } from '../../text/guards.js';
import { ArcpError } from '../protocol/errors.js';

/** The error codes of JSON-RPC and MCP. */
const CODES: Readonly<Record<number, string>> = {
  [-32601]: 'NOT_FOUND',
  [-32602]: 'INVALID_ARGUMENT',
  [-32603]: 'INTERNAL',
  [-32002]: 'NOT_FOUND',
};

/** The system errors of connections that were not made. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

export function notConnected(cause?: unknown): ArcpError {
  return new ArcpError('UNAVAILABLE', 'The MCP server is not connected', { cause });
}

/** The codes with which line 2 of the SDK rejects answers. */
const REJECTED = [
  'INVALID_RESULT',
  'UNSUPPORTED_RESULT_TYPE',
  'INPUT_REQUIRED_ROUNDS_EXCEEDED',
  'LIST_PAGINATION_EXCEEDED',
];

/** Returns the error that a server has answered; `undefined` if there was no answer. */
export function answerError(thrown: unknown): ArcpError | undefined {
  const { code, message, data } = (thrown ?? {}) as Readonly<Record<string, unknown>>;
  if (REJECTED.includes(String(code))) return new ArcpError('INTERNAL', String(message), { cause: thrown });
  // The numbers of the SDKs' own errors are HTTP statuses, or texts.
  if (typeof code !== 'number' || code >= 0) return undefined;
  return new ArcpError(CODES[code] ?? 'UNKNOWN', String(message ?? 'The MCP request failed'), {
    details: { json_rpc_code: code, ...(data === undefined ? {} : { data }) },
    cause: thrown,
  });
}

/** Returns the error of a request that the server has not received or not accepted; `undefined` if it may have. */
export function notSentError(thrown: unknown): ArcpError | undefined {
  const { cause, code, status = code } = (thrown ?? {}) as Readonly<Record<string, unknown>>;
  if (isRecord(cause) && NOT_SENT.includes(String(cause['code']))) return notConnected(thrown);
  // With 400 or 404, the session on the server has ended.
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  const name = [401, 403].includes(status) ? 'PERMISSION_DENIED' : status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE';
  return new ArcpError(name, `The MCP server has refused the request with the HTTP status ${status}`, {
    details: { http_status: status },
    cause: thrown,
  });
}

/** Returns the error of a request whose outcome is unknown: it may be repeated only if that does no harm. */
export function lostError(cause: unknown, isRepeatable: boolean, details: object = {}): ArcpError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new ArcpError('ABORTED', `The outcome of the MCP request is unknown${reason}`, {
    retryable: isRepeatable,
    details: { outcome: 'unknown', ...details },
    cause,
  });
}

/** The codes of timeouts in the two lines of the SDK. */
const TIMEOUTS: readonly unknown[] = [-32001, 'REQUEST_TIMEOUT'];

/** Returns the error of a request that the SDK has ended after a timeout; `undefined` if it has not. */
export function idleError(thrown: unknown, idleTimeoutMs: number, isRepeatable: boolean): ArcpError | undefined {
  const { code, data } = (thrown ?? {}) as Readonly<Record<string, unknown>>;
  // Servers, too, have errors with the number of line 1.
  if (!TIMEOUTS.includes(code) || !isRecord(data) || data['timeout'] !== idleTimeoutMs) return undefined;
  const cause = new Error(`no result or progress for ${idleTimeoutMs} ms (idleTimeoutMs)`, { cause: thrown });
  return lostError(cause, isRepeatable, { idle_timeout_ms: idleTimeoutMs });
}

/** Returns whether a request has ended after the timeout of {@link idleError}. */
export function isIdle(thrown: unknown): boolean {
  return thrown instanceof ArcpError && thrown.details?.['idle_timeout_ms'] !== undefined;
}

/** Returns the error of a tool that reports a failure (`isError`), with its content. */
export function toolError(result: Readonly<Record<string, unknown>>): ArcpError {
  const { content, structuredContent } = result;
  const texts = Array.isArray(content) ? content.map((block: unknown) => isRecord(block) && block['text']) : [];
  const text = texts.filter((one) => typeof one === 'string').join('\n');
  return new ArcpError('TOOL_ERROR', text === '' ? 'The MCP tool reports a failure' : text, {
    details: { content, ...(structuredContent === undefined ? {} : { structuredContent }) },
  });
}
