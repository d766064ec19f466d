/** The error codes of ACCP, and the class of errors above the grammar. */

import { type ErrorJson, PegwireError } from '../text/errors.js';
import type { Span } from '../text/span.js';

/** One row of Table 6 (draft-benzing-accp-00, section 3.6). */
export interface ErrorCode {
  /** The name of the code, such as `PARSE_ERROR`. */
  readonly name: string;
  /** `true` if sending the same message again may succeed. */
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

/** A standard error code, such as `E1001`. */
export type AccpErrorCode = keyof typeof ERROR_CODES;

/** The arguments of the constructor of {@link AccpError}. */
export interface AccpErrorDetails {
  /** The standard error code. */
  readonly code: AccpErrorCode;
  /** One sentence without the path. */
  readonly message: string;
  /** The invalid member of the message, such as `payload.args.q` or `envelope.ttl`. */
  readonly path?: string | undefined;
  /** A hint on how to fix the error. */
  readonly help?: string | undefined;
  /** The text of the frame, for the code frame of `format()`. */
  readonly text?: string | undefined;
  /** The position of the error in `text`. @default null */
  readonly span?: Span | null | undefined;
  /** Further members of the error frame, such as `{ expected: 4 }`. @default {} */
  readonly details?: Readonly<Record<string, string | number | boolean>> | undefined;
}

/**
 * A message that cannot be encoded, a rejected frame, or a failed step of the protocol.
 *
 * Source: draft-benzing-accp-00, section 3.6, Table 6.
 */
export class AccpError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'AccpError';
  /** The standard error code, such as `E3003`. */
  declare readonly code: AccpErrorCode;
  /** The name of the code, such as `SEQUENCE_GAP`. */
  readonly codeName: string;
  /** `true` if sending the same message again may succeed (Table 6). */
  readonly retryable: boolean;
  /** The invalid member of the message, such as `payload.args.q`; `undefined` if the error concerns no single member. */
  readonly path: string | undefined;
  /** Further members of the error frame, such as `{ expected: 4 }`. */
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

/** Creates an error; `path` names the invalid member of the message. */
export function accpError(code: AccpErrorCode, path: string | undefined, message: string, help?: string): AccpError {
  return new AccpError({ code, path, message, help });
}
