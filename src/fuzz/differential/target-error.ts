import { PegwireError } from '../../text/errors.js';

/**
 * The implementation under test cannot be tested: it does not start, does not speak the adapter protocol, or was closed. What
 * it does wrong with a text is no error but an outcome.
 */
export class TargetError extends PegwireError {
  override readonly name: string = 'TargetError';
  declare readonly code: 'target';

  constructor(message: string) {
    super({ code: 'target', message });
  }
}
