/** What is asked of a job that is being worked on, and of those who begin one. */
import type { CancelCause } from '../../protocol/payloads/job.js';
import type { JobChange, NewEvent, RecordChange } from '../../store/store.js';
import type { WorkOptions } from '../contract.js';
import type { JobSpec, JobStatus } from './spec.js';
import type { Voice } from './voice.js';

/** Why work is to end. */
export interface CancelRequest {
  readonly cause: CancelCause;
  readonly reason?: string | undefined;
  /** Milliseconds until it is ended by force. */
  readonly deadlineMs?: number | undefined;
}

/** Why an attempt is to end, for another one. */
export interface PutBack {
  readonly reason: string;
  /** What the job waits as. */
  readonly as: 'queued' | 'paused';
  /** The message that asked for it. */
  readonly causedBy?: string | undefined;
}

export interface NewJob {
  readonly sessionId: string;
  readonly principal: string;
  readonly spec: JobSpec;
  /** @default that of a new one */
  readonly status?: JobStatus | undefined;
  readonly options: WorkOptions;
  /** Most jobs that may wait. */
  readonly maxQueued: number;
  readonly now: () => number;
  /** Committed with it. */
  readonly with: (job: Accepted) => {
    readonly records: readonly RecordChange[];
    readonly events?: readonly NewEvent[];
    readonly jobs?: readonly JobChange[];
  };
}

export interface Accepted {
  readonly jobId: string;
  readonly voice: Voice;
  /** The message that tells of it. */
  readonly told: NewEvent;
}
