/** Conclusion of an attempt that has ended: its job ends, or waits for another attempt. */
import { ArcpError, asArcpError, type ErrorBody } from '../../protocol/errors.js';
import { formatTimestamp } from '../../protocol/ids.js';
import { assertJson } from '../../protocol/json.js';
import type { JobState } from '../../protocol/payloads/parts.js';
import type { NewEvent } from '../../store/store.js';
import { boundedBody } from '../events/message.js';
import type { Attempt, CancelRequest, RequeueRequest } from '../job/attempt.js';
import type { AttemptSummary } from '../job/messages.js';
import type { OutboxEntry } from '../job/outbox.js';
import { retryDelay } from '../job/spec.js';

export type Outcome =
  | { readonly kind: 'completed'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: ArcpError }
  | { readonly kind: 'forced' };

interface AttemptState {
  readonly startedAt: number;
  readonly now: number;
  readonly state: JobState;
  readonly cancel: CancelRequest | undefined;
  readonly requeue: RequeueRequest | undefined;
  /** `true` if a failure is final, whatever the retry policy. */
  readonly isFinal: boolean;
}

interface Conclusion {
  readonly state: JobState;
  readonly entry: OutboxEntry;
}

export function conclude(attempt: Attempt, outcome: Outcome, current: AttemptState): Conclusion {
  const { row, status, messages } = attempt;
  const { cancel, requeue, isFinal, startedAt, now } = current;
  const { checkpointId } = status;
  const ending: AttemptSummary = { attempt: row.attempt, durationMs: Math.max(0, now - startedAt), checkpointId };
  // Completed work counts, even if it was cancelled meanwhile.
  if (outcome.kind === 'completed') return complete(attempt, outcome.result, ending);
  if (cancel !== undefined) {
    const { cause, reason } = cancel;
    const event = messages.cancelled({ cause, reason, forced: outcome.kind === 'forced' }, ending);
    attempt.changeStatus({ cancelled: { cause, reason } });
    return end(attempt, 'cancelled', event);
  }
  if (requeue !== undefined) {
    const { reason, as, causedBy } = requeue;
    return release(attempt, as, 0, messages.moved(current.state, as, reason, {}, causedBy));
  }
  const error =
    outcome.kind === 'failed'
      ? boundedBody(outcome.error, attempt.spec.limits)
      : new ArcpError('INTERNAL', 'The attempt ended without an outcome').toBody();
  const delay = isFinal ? undefined : retryDelay(error, status.failures + 1, attempt.spec.retry);
  return delay === undefined ? fail(attempt, error, ending) : retry(attempt, error, delay, current);
}

function complete(attempt: Attempt, result: unknown, ending: AttemptSummary): Conclusion {
  let event: NewEvent;
  try {
    if (result !== undefined) assertJson(result, 'the result');
    event = attempt.messages.completed(result, ending);
  } catch (thrown) {
    return fail(attempt, boundedBody(asArcpError(thrown), attempt.spec.limits), ending);
  }
  return end(attempt, 'completed', event);
}

function fail(attempt: Attempt, error: ErrorBody, ending: AttemptSummary): Conclusion {
  attempt.changeStatus({ failures: attempt.status.failures + 1, lastError: error });
  return end(attempt, 'failed', attempt.messages.failed(error, ending));
}

function end(attempt: Attempt, state: 'completed' | 'failed' | 'cancelled', event: NewEvent): Conclusion {
  const status = attempt.changeStatus({ endId: event.id });
  return { state, entry: { set: { state, status }, events: [event] } };
}

function retry(attempt: Attempt, error: ErrorBody, delay: number, { state }: AttemptState): Conclusion {
  const { spec, messages, row, status } = attempt;
  const retried = spec.isDurable
    ? [messages.event('tool.error', { ...error, retryable: true, attempt: row.attempt, will_retry: true })]
    : [];
  const at = { attempt: row.attempt, retry_at: formatTimestamp(attempt.log.now() + delay) };
  const moved = messages.moved(state, 'queued', 'retry', at);
  attempt.changeStatus({ failures: status.failures + 1, lastError: error });
  return release(attempt, 'queued', delay, moved, retried);
}

/** Ends the attempt, and makes its job wait for another one. */
function release(
  attempt: Attempt,
  state: RequeueRequest['as'],
  delayMs: number,
  moved: NewEvent,
  events: readonly NewEvent[] = [],
): Conclusion {
  const again = { attempt: attempt.row.attempt, causedBy: moved.id };
  const status = attempt.changeStatus({ ended: attempt.status.ended + 1, again });
  return { state, entry: { set: { state, delayMs, status }, events: [...events, moved] } };
}
