/** The outcome of a call or job, from its last message (spec 003, "Invocation Flow"). */
import type { Envelope } from './envelope.js';
import { ArcpError } from './errors.js';
import type { JobState } from './payloads/parts.js';

export type Outcome =
  | { readonly state: 'completed'; readonly result: unknown }
  | { readonly state: Extract<JobState, 'failed' | 'cancelled'>; readonly error: ArcpError };

/** Returns the outcome that a message reports; `undefined` unless it ends a call or job. */
export function outcomeIn(message: Envelope): Outcome | undefined {
  switch (message.type) {
    case 'job.completed':
      return { state: 'completed', result: message.payload.result };
    case 'tool.result': {
      const { value, result = value } = message.payload;
      return { state: 'completed', result };
    }
    case 'tool.error':
      if (message.payload.will_retry === true) return undefined;
      return { state: 'failed', error: ArcpError.fromBody(message.payload) };
    case 'job.failed':
      return { state: 'failed', error: ArcpError.fromBody(message.payload) };
    case 'job.cancelled': {
      const { cause = 'runtime', reason, forced } = message.payload;
      const code = cause === 'timeout' ? 'DEADLINE_EXCEEDED' : 'CANCELLED';
      const details = { cause, forced };
      const error = new ArcpError(code, reason ?? `The job was cancelled (cause: ${cause})`, {
        retryable: false,
        details,
      });
      return { state: 'cancelled', error };
    }
    case 'workflow.complete': {
      const { outputs, error, status = error === undefined ? 'completed' : 'failed' } = message.payload;
      if (status === 'completed') return { state: 'completed', result: outputs };
      const body = error ?? { code: 'CANCELLED', message: 'The workflow was cancelled' };
      return { state: status, error: ArcpError.fromBody(body) };
    }
    default:
      return undefined;
  }
}
