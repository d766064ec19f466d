/** What can go wrong between client and server. */
import { PegwireError } from '../../../text/errors.js';

/**
 * - `unreachable`: no answer came: no such host, nobody listens, the connection broke
 * - `timeout`: nothing came for as long as was waited for
 * - `redirected`: the server sends elsewhere, which is not followed: a frame is for whom it was given to
 * - `http-status`: the server answered with a status that carries no frames
 * - `not-accp`: the answer is of another media type, or no UTF-8
 * - `more-than-one-frame`: the answer goes on after its first frame; `streamFrames` takes such answers
 * - `truncated`: the answer broke off, or ended before a stream in it, or before a message in several frames
 * - `too-large`: a frame has more bytes than are taken
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

/** An exchange over HTTP that gave no frame. Error frames are answers like others, and no error of the binding. */
export class HttpBindingError extends PegwireError {
  override readonly name: string = 'HttpBindingError';
  declare readonly code: HttpBindingErrorCode;
  /** Of the response; `undefined` where none came. */
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
