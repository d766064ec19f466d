/** When and how often a job is tried again (spec 003, "Jobs": "Jobs MUST support retries"). */

import { type ErrorBody, isRetryable } from '../../protocol/errors.js';
import type { RetryPolicy } from '../contract.js';

export interface ResolvedRetry {
  readonly maxAttempts: number;
  readonly backoffMs: number;
  readonly factor: number;
  readonly maxBackoffMs: number;
}

/** @throws TypeError on numbers that are none of these */
export function resolveRetry(policy: RetryPolicy = {}): ResolvedRetry {
  const { maxAttempts = 1, backoffMs = 1000, factor = 2, maxBackoffMs = 60_000 } = policy;
  if (!(Number.isSafeInteger(maxAttempts) && maxAttempts >= 1))
    throw new TypeError(`maxAttempts is a whole number from 1 on; got ${maxAttempts}`);
  for (const [name, value] of Object.entries({ backoffMs, maxBackoffMs }))
    if (!(value >= 0)) throw new TypeError(`${name} is a number of milliseconds from 0 on; got ${value}`);
  if (!(factor >= 1)) throw new TypeError(`factor is a number from 1 on; got ${factor}`);
  return { maxAttempts, backoffMs, factor, maxBackoffMs };
}

/**
 * How long to wait before a job is tried again.
 *
 * An error may say how long it will last, by `details.retry_after_seconds`: it is not tried again before, whatever the policy says.
 *
 * @param attempt the one that has failed, from 1 on
 * @returns milliseconds; `undefined` when it is not tried again
 */
export function retryDelay(error: ErrorBody, attempt: number, retry: ResolvedRetry): number | undefined {
  if (attempt >= retry.maxAttempts || !isRetryable(error)) return undefined;
  const backoff = Math.min(retry.maxBackoffMs, retry.backoffMs * retry.factor ** (attempt - 1));
  const floor = error.details?.['retry_after_seconds'];
  return typeof floor === 'number' && floor > 0 ? Math.max(backoff, floor * 1000) : backoff;
}
