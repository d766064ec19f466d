/** The error codes and the error class of everything above the grammar. */

import { type ErrorJson, PegwireError } from '../text/errors.js';
import type { Span } from '../text/span.js';

export interface ErrorCode {
  readonly name: string;
  /** Whether sending the same again may help (Table 6). */
  readonly retryable: boolean;
}

/** The standard error codes (draft-benzing-accp-00, section 3.6, Table 6). */
export const ERROR_CODES = {
  E1001: { name: 'PARSE_ERROR', retryable: false },
  E1002: { name: 'INVALID_INTENT', retryable: false },
  E1003: { name: 'UNKNOWN_SCHEMA', retryable: false },
  E1004: { name: 'INVALID_TYPE', retryable: false },
  E2001: { name: 'REF_NOT_FOUND', retryable: false },
  E2002: { name: 'REF_EXPIRED', retryable: false },
  E2003: { name: 'BUDGET_EXCEEDED', retryable: false },
  E3001: { name: 'TIMEOUT', retryable: true },
  E3002: { name: 'DUPLICATE', retryable: false },
  E3003: { name: 'SEQUENCE_GAP', retryable: true },
  E4001: { name: 'TOOL_NOT_FOUND', retryable: false },
  E4002: { name: 'TOOL_EXEC_FAILED', retryable: true },
  E4003: { name: 'TOOL_SCHEMA_MISMATCH', retryable: false },
  E5001: { name: 'POLICY_DENIED', retryable: false },
  E5002: { name: 'UNAUTHORIZED_REF', retryable: false },
  E9999: { name: 'INTERNAL_ERROR', retryable: true },
} as const satisfies Readonly<Record<string, ErrorCode>>;

export type AccpErrorCode = keyof typeof ERROR_CODES;

export interface AccpErrorDetails {
  readonly code: AccpErrorCode;
  /** One sentence without the path. */
  readonly message: string;
  /** The place in the message: `payload.args.q`, `envelope.ttl`. */
  readonly path?: string | undefined;
  readonly help?: string | undefined;
  /** The frame, and the position in it. */
  readonly text?: string | undefined;
  readonly span?: Span | null | undefined;
  /** Further members of the error frame: `{ expected: 4 }`. */
  readonly details?: Readonly<Record<string, string | number | boolean>> | undefined;
}

/**
 * Reports a message that cannot be encoded, a refused frame or a failed step of the protocol, with a code of
 * draft-benzing-accp-00, Table 6.
 */
export class AccpError extends PegwireError {
  override readonly name: string = 'AccpError';
  declare readonly code: AccpErrorCode;
  /** `PARSE_ERROR`, `SEQUENCE_GAP`, ... */
  readonly codeName: string;
  readonly retryable: boolean;
  readonly path: string | undefined;
  readonly details: Readonly<Record<string, string | number | boolean>>;

  constructor({ code, message, path, help, text, span, details }: AccpErrorDetails) {
    super({
      code,
      message: path === undefined ? message : `${path}: ${message}`,
      help,
      ...(text === undefined ? {} : { text }),
      span: span ?? null,
    });
    this.codeName = ERROR_CODES[code].name;
    this.retryable = ERROR_CODES[code].retryable;
    this.path = path;
    this.details = details ?? {};
  }

  override toJSON(): ErrorJson & { readonly codeName: string; readonly retryable: boolean } {
    return {
      ...super.toJSON(),
      codeName: this.codeName,
      retryable: this.retryable,
      ...(this.path === undefined ? {} : { path: this.path }),
    };
  }
}

/** Makes an error; `path` is the place in the message. */
export function accpError(code: AccpErrorCode, path: string | undefined, message: string, help?: string): AccpError {
  return new AccpError({ code, path, message, help });
}
