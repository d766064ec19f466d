/** Why a server does not come about. */
import { PegwireError } from '../../../text/errors.js';

/**
 * - `no-token`: others than this machine could reach it, and nothing says who may
 * - `in-use`: somebody listens there already
 * - `cannot-listen`: there is no such address here, or it is not ours to listen on
 */
export type ServeErrorCode = 'no-token' | 'in-use' | 'cannot-listen';

export class ServeError extends PegwireError {
  override readonly name: string = 'ServeError';
  declare readonly code: ServeErrorCode;

  constructor(code: ServeErrorCode, message: string, cause?: unknown) {
    super({ code, message }, { cause });
  }
}
