import { PegwireError } from '../../../text/errors.js';

/**
 * - `unreachable`: no answer came: no such host, nobody listens, the connection broke
 * - `timeout`: no answer came in time
 * - `redirected`: the server redirects, which is not followed: a frame is for its recipient only
 * - `http-status`: the server answered with a status that carries no frames
 * - `not-accp`: the answer is of another media type, or not UTF-8
 * - `more-than-one-frame`: the answer goes on after its first frame; `streamFrames` takes such answers
 * - `truncated`: the answer broke off, or ended before a stream in it, or before a message in several frames
 * - `too-large`: a frame has more bytes than the limit
 */
export type HttpBindingErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'redirected'
  | 'http-status'
  | 'not-accp'
  | 'more-than-one-frame'
  | 'truncated'
  | 'too-large';

/** An exchange over HTTP that gave no frame. Error frames are answers, not errors of the binding. */
export class HttpBindingError extends PegwireError {
  override readonly name: string = 'HttpBindingError';
  declare readonly code: HttpBindingErrorCode;
  /** The status of the response; `undefined` if none came. */
  readonly status: number | undefined;

  constructor(
    code: HttpBindingErrorCode,
    message: string,
    details: { readonly status?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super({ code, message }, details);
    this.status = details.status;
  }
}
