/** What a job is, how it stands, and which states it may go through (spec 003, "Jobs"). */
import type { MessageLimits } from '../../protocol/codec.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError, type ErrorBody, isRetryable } from '../../protocol/errors.js';
import type { JobState, TrustLevel } from '../../protocol/payloads/parts.js';
import type { JobRow } from '../../store/store.js';
import type { Trace } from '../events/message.js';
import type { RetryPolicy } from '../types.js';

/** A command that starts work. */
export type StartingCommand = Envelope<'tool.invoke' | 'workflow.start' | 'agent.delegate'>;

/** What a job is. It never changes. */
export interface JobSpec {
  readonly kind: 'tool' | 'workflow' | 'agent';
  /** The name of the tool, the workflow or the agent. */
  readonly target: string;
  /** Whether it is a job to its client, which outlives this process; else it is a direct call, which does not. */
  readonly isDurable: boolean;
  readonly command: StartingCommand;
  readonly trace: Trace;
  readonly trust: TrustLevel;
  readonly retry: ResolvedRetry;
  /** Limits of the messages that its client reads. */
  readonly limits?: MessageLimits | undefined;
  /** What its client can read of streams. */
  readonly streams: 'none' | 'text' | 'all';
  /** Milliseconds that all attempts may take together, from its acceptance on. */
  readonly timeoutMs?: number | undefined;
  readonly parentJobId?: string | undefined;
  /** How much other work it is done for: calls and jobs, each begun by the one before. @default 0 */
  readonly depth?: number | undefined;
  /** The context that it shares with others. @default one of its own */
  readonly contextId?: string | undefined;
  /** Whether its client knows of handoffs. */
  readonly mayHandOff?: boolean | undefined;
  /** Whether its client may look for the result of a direct call in `value`. */
  readonly wantsValue?: boolean | undefined;
  /** The job whose outcome is this one's: it was asked for before, under the same operation key. */
  readonly follows?: string | undefined;
}

/** How a job stands, beside its state. */
export interface JobStatus {
  /** Attempts that have failed. */
  readonly failures: number;
  /** Attempts that ended in order, by failure or by being put back; all others were lost with whoever worked on them. */
  readonly ended: number;
  /** Attempts that count as not lost: they, or one after them, have come further before they were. */
  readonly forgiven?: number | undefined;
  readonly checkpointId?: string | undefined;
  readonly checkpoints?: number | undefined;
  /** How often it was handed over. */
  readonly handoffs?: number | undefined;
  /** The agent that has taken it over, and who had it before. */
  readonly agent?: string | undefined;
  readonly handedOver?: { readonly from: string; readonly reason?: string | undefined } | undefined;
  /** The message that told of its end. */
  readonly endId?: string | undefined;
  /** The message that told that another attempt is to come after this one. */
  readonly again?: { readonly attempt: number; readonly causedBy: string } | undefined;
  readonly lastError?: ErrorBody | undefined;
  readonly cancelled?: { readonly cause: string; readonly reason?: string | undefined } | undefined;
}

export const NEW_STATUS: JobStatus = { failures: 0, ended: 0 };

/** Most work that is done for other work, which is done for other work. */
const DEEPEST = 64;

/** @throws ArcpError `RESOURCE_EXHAUSTED` on work that would go on without end */
export function nextDepth({ depth = 0 }: JobSpec): number {
  if (depth < DEEPEST) return depth + 1;
  throw new ArcpError('RESOURCE_EXHAUSTED', `Work begins other work ${DEEPEST} times over`, { retryable: false });
}

export function specOf(row: JobRow): JobSpec {
  return JSON.parse(row.spec) as JobSpec;
}

export function statusOf(row: JobRow): JobStatus {
  return JSON.parse(row.status) as JobStatus;
}

/** How many attempts were lost in a row without coming further: nobody ended them. */
export function lostAttempts(row: JobRow): number {
  const { ended, forgiven = 0 } = statusOf(row);
  return row.attempt - 1 - ended - forgiven;
}

/** The message that has caused this attempt: none where it is the first, or the one before it was lost. */
export function causeOf({ attempt, status }: JobRow): string | undefined {
  const { again } = JSON.parse(status) as JobStatus;
  return again?.attempt === attempt - 1 ? again.causedBy : undefined;
}

/** The attempt has come further: it is not what ends whoever works on it. */
export function forgiveLostAttempts(row: JobRow, { ended }: JobStatus): Pick<JobStatus, 'forgiven'> {
  return { forgiven: row.attempt - ended };
}

export function inputOf(command: StartingCommand): unknown {
  if (command.type === 'workflow.start') return command.payload.inputs ?? {};
  if (command.type === 'tool.invoke') return command.payload.arguments ?? {};
  return { task: command.payload.task, ...(command.payload.arguments ?? {}) };
}

/**
 * From each state, those that may follow. From `running` back to `queued` leads a retry, or the loss of whoever worked on it; the last
 * three lead nowhere.
 */
export const TRANSITIONS: Readonly<Record<JobState, readonly JobState[]>> = {
  accepted: ['queued', 'running', 'cancelled', 'failed'],
  queued: ['running', 'paused', 'cancelled', 'failed'],
  running: ['blocked', 'paused', 'queued', 'completed', 'failed', 'cancelled'],
  blocked: ['running', 'queued', 'paused', 'failed', 'cancelled'],
  paused: ['queued', 'cancelled', 'failed'],
  completed: [],
  failed: [],
  cancelled: [],
};

/** States in which nobody works on a job that has not ended. */
export const IDLE_STATES = ['accepted', 'queued', 'paused'] as const satisfies readonly JobState[];

export function isIdle(state: JobState): boolean {
  return IDLE_STATES.some((idle) => idle === state);
}

export function isTerminal(state: JobState): boolean {
  return TRANSITIONS[state].length === 0;
}

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
