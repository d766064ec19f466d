/** The specification and status of a job, and the transitions between its states (spec 003, "Jobs"). */

import { assertDurations } from '../../../async/durations.js';
import type { MessageLimits } from '../../protocol/codec.js';
import { storableMs } from '../../protocol/durations.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError, type ErrorBody, isRetryable } from '../../protocol/errors.js';
import type { JobState, TrustLevel } from '../../protocol/payloads/parts.js';
import type { JobChange, JobPatch, JobRow } from '../../store/store.js';
import type { Trace } from '../events/message.js';
import type { RetryPolicy } from '../types.js';

export type StartingCommand = Envelope<'tool.invoke' | 'workflow.start' | 'agent.delegate'>;

export interface JobSpec {
  readonly kind: 'tool' | 'workflow' | 'agent';
  readonly target: string;
  /** `true` for a durable job, `false` for a direct call, which ends with the process. */
  readonly isDurable: boolean;
  readonly command: StartingCommand;
  readonly trace: Trace;
  readonly trust: TrustLevel;
  readonly retry: ResolvedRetry;
  readonly limits?: MessageLimits | undefined;
  readonly streams: 'none' | 'text' | 'all';
  readonly timeoutMs?: number | undefined;
  readonly parentJobId?: string | undefined;
  /** The number of calls and jobs above it. @default 0 */
  readonly depth?: number | undefined;
  readonly contextId?: string | undefined;
  readonly mayHandOff?: boolean | undefined;
  /** `true` if the client expects the result of a direct call in `value`. */
  readonly wantsValue?: boolean | undefined;
  /** The earlier job of the same operation, whose outcome becomes that of this one. */
  readonly follows?: string | undefined;
}

export interface JobStatus {
  readonly failures: number;
  /** The number of attempts that failed or were requeued; all other earlier ones were lost. */
  readonly ended: number;
  /** The number of lost attempts that do not count, since they or a later one made progress. */
  readonly forgiven?: number | undefined;
  readonly checkpointId?: string | undefined;
  readonly checkpoints?: number | undefined;
  readonly handoffs?: number | undefined;
  readonly agent?: string | undefined;
  readonly handedOver?: { readonly from: string; readonly reason?: string | undefined } | undefined;
  /** The id of the last message. */
  readonly endId?: string | undefined;
  /** The message that announced the next attempt. */
  readonly again?: { readonly attempt: number; readonly causedBy: string } | undefined;
  readonly lastError?: ErrorBody | undefined;
  readonly cancelled?: { readonly cause: string; readonly reason?: string | undefined } | undefined;
}

export const NEW_STATUS: JobStatus = { failures: 0, ended: 0 };

const MAX_NESTING = 64;

export function nextDepth({ depth = 0 }: JobSpec): number {
  if (depth < MAX_NESTING) return depth + 1;
  throw new ArcpError('RESOURCE_EXHAUSTED', `Calls and child jobs are nested more than ${MAX_NESTING} levels deep`, {
    retryable: false,
  });
}

export function specOf(row: JobRow): JobSpec {
  return JSON.parse(row.spec) as JobSpec;
}

export function statusOf(row: JobRow): JobStatus {
  return JSON.parse(row.status) as JobStatus;
}

/** Returns the number of consecutive lost attempts without progress. */
export function lostAttempts(row: JobRow): number {
  const { ended, forgiven = 0 } = statusOf(row);
  return row.attempt - 1 - ended - forgiven;
}

/** Returns the id of the message that caused this attempt; `undefined` for the first, or after a lost one. */
export function causeOf({ attempt, status }: JobRow): string | undefined {
  const { again } = JSON.parse(status) as JobStatus;
  return again?.attempt === attempt - 1 ? again.causedBy : undefined;
}

/** Returns the change that resets the count of lost attempts, since the attempt has made progress. */
export function forgiveLostAttempts(row: JobRow, { ended }: JobStatus): Pick<JobStatus, 'forgiven'> {
  return { forgiven: row.attempt - ended };
}

export function inputOf(command: StartingCommand): unknown {
  if (command.type === 'workflow.start') return command.payload.inputs ?? {};
  if (command.type === 'tool.invoke') return command.payload.arguments ?? {};
  return { task: command.payload.task, ...(command.payload.arguments ?? {}) };
}

/** The states that may follow each state. */
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

export const IDLE_STATES = ['accepted', 'queued', 'paused'] as const satisfies readonly JobState[];

/** The states in which a worker has the lease of a job. */
export const LEASED_STATES = ['running', 'blocked'] as const satisfies readonly JobState[];

/** Returns a change of an idle job, which is fenced unless the job is unchanged since it was read. */
export function changeOf(
  { jobId, attempt, status }: JobRow,
  set: JobPatch,
  states: readonly JobState[] = IDLE_STATES,
): JobChange {
  return { jobId, attempt, states, status, set };
}

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

/** @throws TypeError if a number is out of range */
export function resolveRetry(policy: RetryPolicy = {}): ResolvedRetry {
  const { maxAttempts = 1, backoffMs = 1000, factor = 2, maxBackoffMs = 60_000 } = policy;
  if (!(Number.isSafeInteger(maxAttempts) && maxAttempts >= 1))
    throw new TypeError(`maxAttempts must be a positive integer; got ${maxAttempts}`);
  assertDurations({ backoffMs, maxBackoffMs }, 0);
  if (!(factor >= 1)) throw new TypeError(`factor must be at least 1; got ${factor}`);
  return { maxAttempts, backoffMs: storableMs(backoffMs), factor, maxBackoffMs: storableMs(maxBackoffMs) };
}

/** Returns the milliseconds before a retry, at least `details.retry_after_seconds`; `undefined` for no retry. */
export function retryDelay(error: ErrorBody, attempt: number, retry: ResolvedRetry): number | undefined {
  if (attempt >= retry.maxAttempts || !isRetryable(error)) return undefined;
  const backoff = Math.min(retry.maxBackoffMs, retry.backoffMs * retry.factor ** (attempt - 1));
  const floor = error.details?.['retry_after_seconds'];
  return typeof floor === 'number' && floor > 0 ? Math.max(backoff, floor * 1000) : backoff;
}

/** Returns the shorter of two durations, either of which may be unlimited. */
export function shorter(a: number | undefined, b: number | undefined): number | undefined {
  return storableMs(a === undefined || b === undefined ? (a ?? b) : Math.min(a, b));
}
