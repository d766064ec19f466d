/** The errors of everything above the grammar: each has one of the draft's codes. */
import { type ErrorJson, PegwireError } from '../../text/errors.js';
import type { Span } from '../../text/span.js';
import { type AccpErrorCode, ERROR_CODES } from './codes.js';

export interface AccpErrorDetails {
  readonly code: AccpErrorCode;
  /** One sentence without the path. */
  readonly message: string;
  /** The place in the message: `payload.args.q`, `envelope.ttl`. */
  readonly path?: string | undefined;
  readonly help?: string | undefined;
  /** The frame, and the place in it, where there is one. */
  readonly text?: string | undefined;
  readonly span?: Span | null | undefined;
  /** What an error frame tells besides: `{ expected: 4 }`. */
  readonly details?: Readonly<Record<string, string | number | boolean>> | undefined;
}

/**
 * A message that cannot be encoded, a frame that was refused, or a step of the protocol that failed, with a code of
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
