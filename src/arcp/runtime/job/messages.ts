/** The messages of an invocation: those of a job, or those of a direct call. */
import type { MessageType, PayloadOf } from '../../protocol/catalogue.js';
import type { ErrorBody } from '../../protocol/errors.js';
import { formatTimestamp } from '../../protocol/ids.js';
import type { CancelCause } from '../../protocol/payloads/execution.js';
import type { JobState } from '../../protocol/payloads/parts.js';
import type { JobRow, NewEvent } from '../../store/store.js';
import type { EventLog } from '../events/log.js';
import { type Trace, traceBelow } from '../events/message.js';
import type { JobSpec } from './spec.js';

export interface AttemptSummary {
  readonly attempt: number;
  readonly durationMs: number;
  readonly checkpointId?: string | undefined;
}

export class JobMessages {
  readonly #log: EventLog;
  readonly #row: Pick<JobRow, 'jobId' | 'sessionId'>;
  readonly #spec: JobSpec;
  readonly #correlationId: string | undefined;

  constructor(log: EventLog, row: Pick<JobRow, 'jobId' | 'sessionId'>, spec: JobSpec, correlationId?: string) {
    this.#correlationId = correlationId;
    this.#log = log;
    this.#row = row;
    this.#spec = spec;
  }

  /** Creates an event. The messages of a direct call do not name a job. */
  event<T extends MessageType>(type: T, payload: PayloadOf<T>, more: MessageFields = {}): NewEvent {
    const { jobId, sessionId } = this.#row;
    const { command, trace, isDurable, limits } = this.#spec;
    return this.#log.event(
      {
        type,
        payload,
        sessionId,
        trace: more.trace ?? trace,
        causationId: more.causationId ?? command.id,
        jobId: isDurable ? jobId : undefined,
        correlationId: more.correlationId ?? (isDurable ? this.#correlationId : command.id),
        streamId: more.streamId,
      },
      { storedJobId: jobId, isTerminal: more.isTerminal, limits },
    );
  }

  accepted(state: 'accepted' | 'queued', queue_position?: number): NewEvent {
    const { jobId: job_id } = this.#row;
    const { command, kind, target, isDurable, parentJobId: parent_job_id } = this.#spec;
    const at = formatTimestamp(this.#log.now());
    const correlationId = command.id;
    if (!isDurable)
      return this.event('ack', { ack_for: command.id, received_at: at, status: 'accepted' }, { correlationId });
    const payload = { job_id, state, accepted_at: at, [kind]: target, queue_position, parent_job_id };
    return this.event('job.accepted', payload, { correlationId });
  }

  /** Creates the answer that names the existing job of the operation. It is not an event of that job. */
  duplicate(state: 'accepted' | 'queued', createdAt: number): { readonly body: string } {
    const { jobId, sessionId } = this.#row;
    const { command, kind, target } = this.#spec;
    const accepted_at = formatTimestamp(createdAt);
    return this.#log.compose({
      type: 'job.accepted',
      sessionId,
      jobId,
      trace: traceBelow(command),
      correlationId: command.id,
      payload: { job_id: jobId, state, accepted_at, [kind]: target, duplicate: true },
    });
  }

  started(attempt: number, more: Partial<PayloadOf<'job.started'>> = {}, causationId?: string): NewEvent[] {
    if (!this.#spec.isDurable) return [];
    const payload = { job_id: this.#row.jobId, attempt, started_at: formatTimestamp(this.#log.now()), ...more };
    return [this.event('job.started', payload, { causationId })];
  }

  completed(result: unknown, { attempt, durationMs: duration_ms }: AttemptSummary): NewEvent {
    const { isDurable, kind, wantsValue } = this.#spec;
    if (isDurable) {
      const completed_at = formatTimestamp(this.#log.now());
      return this.#last('job.completed', { result, attempt, duration_ms, completed_at });
    }
    if (kind === 'workflow')
      return this.#last('workflow.complete', { status: 'completed', outputs: result, duration_ms });
    return this.#last('tool.result', { result, value: wantsValue === true ? result : undefined, duration_ms });
  }

  failed(
    error: ErrorBody,
    { attempt, durationMs: duration_ms, checkpointId: last_checkpoint_id }: AttemptSummary,
  ): NewEvent {
    const { isDurable, kind } = this.#spec;
    if (isDurable) {
      const failed_at = formatTimestamp(this.#log.now());
      return this.#last('job.failed', { ...error, attempt, failed_at, last_checkpoint_id });
    }
    if (kind === 'workflow') return this.#last('workflow.complete', { status: 'failed', error, duration_ms });
    return this.#last('tool.error', { ...error, attempt });
  }

  cancelled(
    { cause, reason, forced }: { readonly cause: CancelCause; readonly reason?: string | undefined; forced: boolean },
    { attempt, durationMs: duration_ms, checkpointId: last_checkpoint_id }: AttemptSummary,
  ): NewEvent {
    const { isDurable, kind } = this.#spec;
    if (isDurable) {
      const cancelled_at = formatTimestamp(this.#log.now());
      return this.#last('job.cancelled', { reason, cause, cancelled_at, forced, last_checkpoint_id });
    }
    if (kind === 'workflow') return this.#last('workflow.complete', { status: 'cancelled', duration_ms });
    const isTimeout = cause === 'timeout';
    const code = isTimeout ? 'DEADLINE_EXCEEDED' : 'CANCELLED';
    const message = reason ?? (isTimeout ? 'The call exceeded its timeout' : 'The call was cancelled');
    return this.#last('tool.error', { code, message, retryable: false, details: { cause, forced }, attempt });
  }

  #last<T extends MessageType>(type: T, payload: PayloadOf<T>): NewEvent {
    return this.event(type, payload, { correlationId: this.#spec.command.id, isTerminal: true });
  }

  /** Creates the event that reports a state without its own message type. */
  moved(
    from: string,
    to: string,
    reason: string,
    more: Readonly<Record<string, unknown>> = {},
    causationId?: string,
  ): NewEvent {
    const attributes = { from, to, reason, ...more };
    return this.event('event.emit', { name: 'arcp.job.state', attributes }, { causationId });
  }
}

interface HeartbeatFields {
  readonly sequence: number;
  readonly state: JobState;
  readonly deadlineMs: number;
  /** Milliseconds since 1970. */
  readonly progressAt?: number | undefined;
}

/** Returns the text of a heartbeat, which is not stored. */
export function heartbeatOf(
  log: EventLog,
  { jobId, sessionId, attempt }: Pick<JobRow, 'jobId' | 'sessionId' | 'attempt'>,
  { trace, command }: JobSpec,
  { sequence, state, deadlineMs, progressAt }: HeartbeatFields,
): string {
  const last_progress_at = progressAt === undefined ? undefined : formatTimestamp(progressAt);
  const payload = { sequence, state, deadline_ms: deadlineMs, attempt, last_progress_at };
  return log.compose({ type: 'job.heartbeat', payload, jobId, sessionId, trace, causationId: command.id }).body;
}

interface MessageFields {
  readonly trace?: Trace | undefined;
  readonly causationId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly streamId?: string | undefined;
  readonly isTerminal?: boolean | undefined;
}
