/** What the SDKs throw when a server answers with an error, whichever SDK it is and whichever copy of it. */
import { type HeaderSource, retryAfterOf } from './retry-after.js';

/** An answer that says that something is wrong. */
export interface HttpFault {
  readonly status: number;
  /** What the server says; empty where it says nothing. */
  readonly message: string;
  /** The parameter that is at fault, and the provider's name for the error, where it tells. */
  readonly parameter: string | null;
  readonly code: string | null;
  /** Seconds. */
  readonly retryAfter: number | null;
  readonly requestId: string | null;
}

/** `null` where no server has answered. */
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
    retryAfter: isHeaders(headers) ? retryAfterOf(headers) : null,
    requestId: text(member(thrown, 'requestID')),
  };
}

/** A member of anything; nothing where there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** One SDK gives the body of the reply, the other one its member `error`. */
function innermost(error: unknown): unknown {
  const inner = member(error, 'error');
  return typeof inner === 'object' && inner !== null ? inner : error;
}

/** Without what the SDKs put before it, or say when there is nothing to say. */
function plainMessage(message: unknown, status: number): string {
  const said = text(message) ?? '';
  const plain = said.startsWith(`${status} `) ? said.slice(`${status} `.length) : said;
  return plain === 'status code (no body)' ? '' : plain;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function isHeaders(value: unknown): value is HeaderSource {
  return typeof member(value, 'get') === 'function';
}
