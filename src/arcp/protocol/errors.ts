/** Errors as they stand on the wire (spec 003, "Errors": "Errors MUST be structured"), and as programs throw them. */
import * as z from 'zod/mini';
import { PegwireError } from '../../text/errors.js';

export const names = z.registry<{ id?: string; title?: string; description?: string; format?: string }>();

/**
 * The codes of this implementation. The list is open: any name of this form is a code. `retryable` is the default of errors with the code.
 */
export const ERROR_CODES = {
  OK: { retryable: false, about: 'no error; never sent' },
  CANCELLED: { retryable: false, about: 'it was cancelled' },
  UNKNOWN: { retryable: false, about: 'something that says no more of itself' },
  INVALID_ARGUMENT: { retryable: false, about: 'the message, or what it asks for, is malformed' },
  DEADLINE_EXCEEDED: { retryable: true, about: 'it took too long' },
  NOT_FOUND: { retryable: false, about: 'there is no such tool, job, session, stream, agent or message' },
  ALREADY_EXISTS: { retryable: false, about: 'the same id or operation key stands for something else already' },
  PERMISSION_DENIED: { retryable: false, about: 'it is not allowed' },
  RESOURCE_EXHAUSTED: { retryable: true, about: 'a limit is reached' },
  FAILED_PRECONDITION: { retryable: false, about: 'not in this state' },
  ABORTED: { retryable: true, about: 'something else came between' },
  OUT_OF_RANGE: { retryable: false, about: 'beyond what there is' },
  UNIMPLEMENTED: { retryable: false, about: 'the message type is unknown, or its capability was not negotiated' },
  INTERNAL: { retryable: false, about: 'a defect' },
  UNAVAILABLE: { retryable: true, about: 'it cannot be done at the moment' },
  DATA_LOSS: { retryable: false, about: 'what is asked for is not kept any more' },
  UNAUTHENTICATED: { retryable: false, about: 'who asks is not known' },
  HEARTBEAT_LOST: { retryable: true, about: 'whoever worked on it gave no sign of life' },
  LEASE_EXPIRED: { retryable: false, about: 'the permission has run out' },
  LEASE_REVOKED: { retryable: false, about: 'the permission was taken back' },
  BACKPRESSURE_OVERFLOW: { retryable: false, about: 'more was sent than the receiver takes' },
  RATE_LIMITED: { retryable: true, about: 'too often' },
  UNSUPPORTED_VERSION: { retryable: false, about: 'the version of the protocol is not spoken here' },
  PAYLOAD_TOO_LARGE: { retryable: false, about: 'the message is too long or too deep' },
} as const satisfies Readonly<Record<string, { readonly retryable: boolean; readonly about: string }>>;

export type KnownErrorCode = keyof typeof ERROR_CODES;
export type ErrorCode = KnownErrorCode | (string & {});

/** A structured error: the payload of `nack`, `tool.error`, `job.failed` and `stream.error`, with more members each. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable?: boolean | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: ErrorBody | undefined;
  readonly trace_id?: string | undefined;
}

const ERROR_CODE = /^[A-Z][A-Z0-9_.]{0,127}$/;

/** Reports whether a retry may help: by the error's own `retryable`, or else by its code. */
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

export interface ErrorDetails {
  /** @default by the code */
  readonly retryable?: boolean | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** An error of the protocol. A tool that throws one sends it to the client; a call that fails rejects with it. */
export class ArcpError extends PegwireError {
  override readonly name: string = 'ArcpError';
  declare readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  /** @throws TypeError if the code is invalid: capital letters, digits, `_` and `.` */
  constructor(code: ErrorCode, message: string, { retryable, details, cause }: ErrorDetails = {}) {
    if (!ERROR_CODE.test(code)) throw new TypeError(`not the code of an error: ${JSON.stringify(code)}`);
    super({ code, message }, { cause });
    this.retryable = isRetryable({ code, retryable });
    this.details = details;
  }

  /** Creates an error from one that was received. */
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
      // Other causes may hold what must not leave the process.
      ...(cause instanceof ArcpError ? { cause: cause.toBody() } : {}),
    };
  }
}

/** Converts anything thrown to an error of the protocol. Of other errors only the message is kept; an abort is `CANCELLED`. */
export function asArcpError(thrown: unknown): ArcpError {
  if (thrown instanceof ArcpError) return thrown;
  if (thrown instanceof Error) {
    const code =
      thrown.name === 'AbortError' ? 'CANCELLED' : thrown.name === 'TimeoutError' ? 'DEADLINE_EXCEEDED' : 'INTERNAL';
    return new ArcpError(code, thrown.message || thrown.name, { cause: thrown });
  }
  return new ArcpError('INTERNAL', typeof thrown === 'string' ? thrown : 'Something was thrown that is no error', {
    cause: thrown,
  });
}
