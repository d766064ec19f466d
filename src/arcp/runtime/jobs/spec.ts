/** What the store keeps of a job as text. */
import type { MessageLimits } from '../../protocol/codec.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError, type ErrorBody } from '../../protocol/errors.js';
import type { TrustLevel } from '../../protocol/payloads/parts.js';
import type { JobRow } from '../../store/store.js';
import type { Trace } from '../compose.js';
import type { ResolvedRetry } from './retry.js';

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
export function deeper({ depth = 0 }: JobSpec): number {
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
export function cameFurther(row: JobRow, { ended }: JobStatus): Pick<JobStatus, 'forgiven'> {
  return { forgiven: row.attempt - ended };
}
