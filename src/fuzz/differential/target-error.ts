/**
 * The implementation under test cannot be tested: it does not start, does not speak the adapter protocol, or was closed. What
 * it does wrong with a text is no error but an outcome.
 */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}
