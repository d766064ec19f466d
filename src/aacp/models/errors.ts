/** Errors of models. */
import { type ErrorDetails, PegwireError } from '../../text/errors.js';

/**
 * - `model-unavailable`: no connection, or the provider is at fault (5xx).
 * - `model-rate-limited`: see `retryAfter`.
 * - `model-timeout`, `model-aborted`: it took too long, or the caller gave up.
 * - `model-unauthorised`: the key is missing, wrong, or not enough.
 * - `model-bad-request`: the provider refuses the request itself (another 4xx).
 * - `model-not-installed`: the SDK of the provider is not installed.
 * - `model-bad-reply`: what came back is not what the provider's protocol says.
 */
export type ModelErrorCode =
  | 'model-unavailable'
  | 'model-rate-limited'
  | 'model-timeout'
  | 'model-aborted'
  | 'model-unauthorised'
  | 'model-bad-request'
  | 'model-not-installed'
  | 'model-bad-reply';

/** There is no answer from a model. */
export class ModelError extends PegwireError {
  override readonly name: string = 'ModelError';
  declare readonly code: ModelErrorCode;
  /** Seconds to wait before the next try, where the provider says so. */
  readonly retryAfter: number | null;

  constructor(
    details: ErrorDetails & { readonly code: ModelErrorCode; readonly message: string },
    options: { readonly retryAfter?: number | null; readonly cause?: unknown } = {},
  ) {
    super(details, options);
    this.retryAfter = options.retryAfter ?? null;
  }
}
