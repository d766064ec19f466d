/** How an invocation speaks to its client: as a job, or as a direct call. */
import type { MessageType, PayloadOf } from '../../protocol/catalogue.js';
import type { ErrorBody } from '../../protocol/errors.js';
import { timestampOf } from '../../protocol/ids.js';
import type { CancelCause } from '../../protocol/payloads/execution.js';
import type { JobRow, NewEvent } from '../../store/store.js';
import type { EventLog } from '../events/log.js';
import { type Trace, traceBelow } from '../events/message.js';
import type { JobSpec } from './spec.js';

export interface Ending {
  readonly attempt: number;
  readonly durationMs: number;
  readonly checkpointId?: string | undefined;
}

interface Cancellation {
  readonly cause: CancelCause;
  readonly reason?: string | undefined;
  readonly isForced: boolean;
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

  /** A direct call has no job in its messages. */
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
        ...(isDurable ? { jobId, correlationId: this.#correlationId } : { correlationId: command.id }),
        correlationId: more.correlationId,
        streamId: more.streamId,
      },
      { keptAs: jobId, isTerminal: more.isTerminal, limits },
    );
  }

  accepted(state: 'accepted' | 'queued', queuePosition?: number): NewEvent {
    const { jobId } = this.#row;
    const { command, kind, target, isDurable, parentJobId } = this.#spec;
    const at = timestampOf(this.#log.now());
    const correlationId = command.id;
    if (!isDurable)
      return this.event('ack', { ack_for: command.id, received_at: at, status: 'accepted' }, { correlationId });
    const payload = {
      job_id: jobId,
      state,
      accepted_at: at,
      [kind]: target,
      queue_position: queuePosition,
      parent_job_id: parentJobId,
    };
    return this.event('job.accepted', payload, { correlationId });
  }

  /** Answers with the job of the same operation. This is not an event of that job. */
  duplicate(state: 'accepted' | 'queued', createdAt: number): { readonly body: string } {
    const { jobId, sessionId } = this.#row;
    const { command, kind, target } = this.#spec;
    const accepted_at = timestampOf(createdAt);
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
    const payload = { job_id: this.#row.jobId, attempt, started_at: timestampOf(this.#log.now()), ...more };
    return [this.event('job.started', payload, { causationId })];
  }

  completed(result: unknown, { attempt, durationMs }: Ending): NewEvent {
    const told = result === undefined ? {} : { result };
    const duration_ms = Math.max(0, durationMs);
    if (this.#spec.isDurable) {
      const completed_at = timestampOf(this.#log.now());
      return this.#last('job.completed', { ...told, attempt, duration_ms, completed_at });
    }
    if (this.#spec.kind === 'workflow') {
      const outputs = result === undefined ? {} : { outputs: result };
      return this.#last('workflow.complete', { status: 'completed', ...outputs, duration_ms });
    }
    const again = this.#spec.wantsValue === true && result !== undefined ? { value: result } : {};
    return this.#last('tool.result', { ...told, ...again, duration_ms });
  }

  failed(error: ErrorBody, { attempt, durationMs, checkpointId }: Ending): NewEvent {
    if (this.#spec.isDurable) {
      const last = checkpointId === undefined ? {} : { last_checkpoint_id: checkpointId };
      return this.#last('job.failed', { ...error, attempt, failed_at: timestampOf(this.#log.now()), ...last });
    }
    if (this.#spec.kind === 'workflow') {
      const duration_ms = Math.max(0, durationMs);
      return this.#last('workflow.complete', { status: 'failed', error, duration_ms });
    }
    return this.#last('tool.error', { ...error, attempt });
  }

  cancelled({ cause, reason, isForced }: Cancellation, { attempt, durationMs, checkpointId }: Ending): NewEvent {
    const why = reason === undefined ? {} : { reason };
    if (this.#spec.isDurable) {
      const last = checkpointId === undefined ? {} : { last_checkpoint_id: checkpointId };
      const at = timestampOf(this.#log.now());
      return this.#last('job.cancelled', { ...why, cause, cancelled_at: at, forced: isForced, ...last });
    }
    if (this.#spec.kind === 'workflow') {
      const duration_ms = Math.max(0, durationMs);
      return this.#last('workflow.complete', { status: 'cancelled', duration_ms });
    }
    const code = cause === 'timeout' ? 'DEADLINE_EXCEEDED' : 'CANCELLED';
    const message = reason ?? (cause === 'timeout' ? 'It took too long' : 'It was cancelled');
    const details = { cause, forced: isForced };
    return this.#last('tool.error', { code, message, retryable: false, details, attempt });
  }

  #last<T extends MessageType>(type: T, payload: PayloadOf<T>): NewEvent {
    return this.event(type, payload, { correlationId: this.#spec.command.id, isTerminal: true });
  }

  /** Reports a state without a message type of its own. */
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

interface MessageFields {
  readonly trace?: Trace | undefined;
  readonly causationId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly streamId?: string | undefined;
  readonly isTerminal?: boolean | undefined;
}
