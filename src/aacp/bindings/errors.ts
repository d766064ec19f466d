import { PegwireError } from '../../text/errors.js';

/**
 * The code of an `AacpBindingError`.
 *
 * - `invalid-packet`: the packet is not valid, and was not sent (section 7)
 * - `unreachable`: the host is unknown, refuses the connection, or closed it before an answer
 * - `timeout`: no answer arrived in time
 * - `redirected`: the server redirects; redirects are not followed, since a packet is for its recipient only
 * - `http-status`: the server answered with a status that carries no answer to a packet
 * - `not-aacp`: the answer is not one to a packet
 * - `truncated`: the connection closed in the middle of the answer
 * - `too-large`: the answer has more bytes than the limit
 * - `answer-lost`: the packet was handled at an earlier attempt, whose answer did not arrive
 */
export type AacpBindingErrorCode =
  | 'invalid-packet'
  | 'unreachable'
  | 'timeout'
  | 'redirected'
  | 'http-status'
  | 'not-aacp'
  | 'truncated'
  | 'too-large'
  | 'answer-lost';

/** A packet that was not sent, or that got no answer. Refusals are answers, not errors. */
export class AacpBindingError extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'AacpBindingError';
  /** A code that stays the same between versions. */
  declare readonly code: AacpBindingErrorCode;
  /** The status of the HTTP response; `undefined` if no response arrived, or over another protocol. */
  readonly status: number | undefined;

  /**
   * Creates an error.
   *
   * @param code the stable reason
   * @param message the reason for people
   * @param details the status of the response and the underlying error
   */
  constructor(
    code: AacpBindingErrorCode,
    message: string,
    details: { readonly status?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super({ code, message }, details);
    this.status = details.status;
  }
}
