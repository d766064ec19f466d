/** Errors of the protocol, as messages contain them (spec 003, "Errors": "Errors MUST be structured") and as programs throw them. */
import * as z from 'zod/mini';
import { PegwireError } from '../../text/errors.js';

export const names = z.registry<{ id?: string; title?: string; description?: string; format?: string }>();

/**
 * The error codes of the specification and of this implementation. Peers may use other codes of the same form. `retryable` is the default for
 * errors with the code, and `about` describes it.
 */
export const ERROR_CODES = {
  OK: { retryable: false, about: 'no error; never sent' },
  CANCELLED: { retryable: false, about: 'the job or call was cancelled' },
  UNKNOWN: { retryable: false, about: 'an error without a more specific code' },
  INVALID_ARGUMENT: { retryable: false, about: 'the message or its arguments are invalid' },
  DEADLINE_EXCEEDED: { retryable: true, about: 'the timeout expired' },
  NOT_FOUND: { retryable: false, about: 'the tool, job, session, stream, agent or message does not exist' },
  ALREADY_EXISTS: { retryable: false, about: 'the id or operation key is already used for something else' },
  PERMISSION_DENIED: { retryable: false, about: 'the permission is missing or was denied' },
  RESOURCE_EXHAUSTED: { retryable: true, about: 'a limit is reached' },
  FAILED_PRECONDITION: { retryable: false, about: 'the job, session or stream is in another state' },
  ABORTED: { retryable: true, about: 'the operation was interrupted' },
  OUT_OF_RANGE: { retryable: false, about: 'the value is beyond the valid range' },
  UNIMPLEMENTED: { retryable: false, about: 'the message type is unknown, or its capability was not negotiated' },
  INTERNAL: { retryable: false, about: 'an unexpected error of the handler or the runtime' },
  UNAVAILABLE: { retryable: true, about: 'the service is temporarily unavailable' },
  DATA_LOSS: { retryable: false, about: 'the data are no longer stored' },
  UNAUTHENTICATED: { retryable: false, about: 'authentication failed' },
  HEARTBEAT_LOST: { retryable: true, about: 'the worker of the job was lost' },
  LEASE_EXPIRED: { retryable: false, about: 'the lease has expired' },
  LEASE_REVOKED: { retryable: false, about: 'the lease was revoked' },
  BACKPRESSURE_OVERFLOW: { retryable: false, about: 'the sender ignored backpressure' },
  RATE_LIMITED: { retryable: true, about: 'too many requests in a time' },
  UNSUPPORTED_VERSION: { retryable: false, about: 'the protocol version is not supported' },
  PAYLOAD_TOO_LARGE: { retryable: false, about: 'the message is too long or nested too deeply' },
} as const satisfies Readonly<Record<string, { readonly retryable: boolean; readonly about: string }>>;

/** An error code that this implementation knows. */
export type KnownErrorCode = keyof typeof ERROR_CODES;
/** An error code: capital letters, digits, `_` and `.`. */
export type ErrorCode = KnownErrorCode | (string & {});

/** A structured error. The payloads of `nack`, `tool.error`, `job.failed` and `stream.error` contain these members. */
export interface ErrorBody {
  /** A code of the protocol's table of errors, or one of the application. */
  readonly code: ErrorCode;
  /** A description for people. */
  readonly message: string;
  /** `true` if a retry may succeed. @default by the code */
  readonly retryable?: boolean | undefined;
  /** Further members, by code. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** The error that caused this one. */
  readonly cause?: ErrorBody | undefined;
  /** The trace in which it occurred. */
  readonly trace_id?: string | undefined;
}

const ERROR_CODE = /^[A-Z][A-Z0-9_.]{0,127}$/;

/** Returns whether a retry may succeed: the `retryable` of the error, or else the default of its code. */
export function isRetryable({ code, retryable }: Pick<ErrorBody, 'code' | 'retryable'>): boolean {
  if (retryable !== undefined) return retryable;
  return Object.hasOwn(ERROR_CODES, code) && ERROR_CODES[code as KnownErrorCode].retryable;
}

export const errorFields = {
  code: z.string().check(z.regex(ERROR_CODE)),
  message: z.string(),
  retryable: z.optional(z.boolean()),
  details: z.optional(z.looseObject({})),
  cause: z.optional(z.lazy((): z.ZodMiniType<ErrorBody> => errorBodySchema)),
  trace_id: z.optional(z.string()),
};

export const errorBodySchema: z.ZodMiniType<ErrorBody> = z
  .looseObject(errorFields)
  .register(names, { id: 'Error', description: 'A structured error (spec 003, "Errors").' });

/** Details of a new error. */
export interface ErrorDetails {
  /** `true` if a retry may succeed. @default by the code */
  readonly retryable?: boolean | undefined;
  /** Further members, which the receiver gets. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** The error that caused this one. It is sent only if it is an `ArcpError`. */
  readonly cause?: unknown;
}

/** An error of the protocol. A handler that throws one sends it to the client, and a call that fails rejects with one. */
export class ArcpError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'ArcpError';
  /** The error code, such as `NOT_FOUND`. */
  declare readonly code: ErrorCode;
  /** `true` if a retry may succeed. */
  readonly retryable: boolean;
  /** Further members, by code. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  /** Creates an error. @throws TypeError if the code does not consist of capital letters, digits, `_` and `.` */
  constructor(code: ErrorCode, message: string, { retryable, details, cause }: ErrorDetails = {}) {
    if (!ERROR_CODE.test(code))
      throw new TypeError(`code must consist of capital letters, digits, "_" and "."; got ${JSON.stringify(code)}`);
    super({ code, message }, { cause });
    this.retryable = isRetryable({ code, retryable });
    this.details = details;
  }

  /** Creates an error from one that a peer has sent. */
  static fromBody({ code, message, retryable, details, cause }: ErrorBody): ArcpError {
    const inner = cause === undefined ? {} : { cause: ArcpError.fromBody(cause) };
    return new ArcpError(code, message, { retryable, details, ...inner });
  }

  /** Returns the error as a payload. */
  toBody(): ErrorBody {
    const { code, message, retryable, details, cause } = this;
    return {
      code,
      message,
      retryable,
      details,
      // Other causes may contain data that must not leave the process.
      ...(cause instanceof ArcpError ? { cause: cause.toBody() } : {}),
    };
  }
}

/** Converts a thrown value to an error of the protocol. An `AbortError` is `CANCELLED`, a `TimeoutError` is `DEADLINE_EXCEEDED`, and others are `INTERNAL` with their message. */
export function asArcpError(thrown: unknown): ArcpError {
  if (thrown instanceof ArcpError) return thrown;
  if (thrown instanceof Error) {
    const code =
      thrown.name === 'AbortError' ? 'CANCELLED' : thrown.name === 'TimeoutError' ? 'DEADLINE_EXCEEDED' : 'INTERNAL';
    return new ArcpError(code, thrown.message || thrown.name, { cause: thrown });
  }
  return new ArcpError('INTERNAL', typeof thrown === 'string' ? thrown : 'A value that is not an Error was thrown', {
    cause: thrown,
  });
}
