/** What can go wrong between client and server. */
import { PegwireError } from '../../../text/errors.js';

/**
 * - `not-accp`: the agent has answered, but not in frames
 * - `truncated`: the answer ended before its task, before a stream in it, or before a message in several frames
 */
export type A2aBindingErrorCode = 'not-accp' | 'truncated';

/** An exchange over A2A that gave no frame. Error frames are answers like others, and no error of the binding. */
export class A2aBindingError extends PegwireError {
  override readonly name: string = 'A2aBindingError';
  declare readonly code: A2aBindingErrorCode;

  constructor(code: A2aBindingErrorCode, message: string) {
    super({ code, message });
  }
}
