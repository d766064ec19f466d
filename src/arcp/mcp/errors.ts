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
export function lostError(cause: unknown, isRepeatable: boolean): ArcpError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new ArcpError('ABORTED', `The outcome of the MCP request is unknown${reason}`, {
    retryable: isRepeatable,
    details: { outcome: 'unknown' },
    cause,
  });
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
