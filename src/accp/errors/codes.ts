/** The standard error codes (draft-benzing-accp-00, section 3.6, Table 6). */

export interface ErrorCode {
  readonly name: string;
  /** Whether sending the same again may help (Table 6). */
  readonly retryable: boolean;
}

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
