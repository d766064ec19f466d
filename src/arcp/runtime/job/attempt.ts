/** One attempt at a job, as seen by the context of its handler. */
import type { CancelCause } from '../../protocol/payloads/execution.js';
import type { StreamKind } from '../../protocol/payloads/streaming.js';
import type { Commit, CommitResult, JobRow, NewEvent } from '../../store/store.js';
import type { Content, StreamOptions, StreamWriter } from '../../streams/content.js';
import type { EventLog } from '../events/log.js';
import type { AnswerWaiters } from '../permissions/leases.js';
import type { Policy } from '../permissions/policy.js';
import type { StreamRegistry } from '../streams.js';
import type { HandlerOptions, Registration, Telemetry } from '../types.js';
import type { Uploads } from '../uploads/uploads.js';
import type { JobMessages } from './messages.js';
import type { JobOutbox } from './outbox.js';
import type { JobSpec, JobStatus } from './spec.js';

export interface JobHost {
  readonly log: EventLog;
  readonly now: () => number;
  readonly streams: StreamRegistry;
  readonly uploads: Uploads;
  readonly drained: (sessionId: string) => Promise<void> | undefined;
  readonly policy: Policy;
  readonly answers: AnswerWaiters;
  readonly telemetry?: Telemetry | undefined;
  readonly onSlotFree: () => void;
  readonly outcomeOf: (jobId: string) => Promise<unknown>;
  readonly startChild: (job: NewJob) => Promise<CommitResult>;
  readonly cancelChildren: (jobId: string) => Promise<void>;
  readonly find: (kind: Registration['kind'], name: string) => Registration | undefined;
  readonly cancelGraceMs: number;
  /** Milliseconds. */
  readonly leaseMs: number;
}

export interface Attempt {
  readonly host: JobHost;
  readonly row: JobRow;
  readonly spec: JobSpec;
  readonly work: Registration;
  readonly messages: JobMessages;
  readonly log: EventLog;
  readonly outbox: JobOutbox;
  readonly signal: AbortSignal;
  /** Separates the steps of calls within the job. */
  readonly stepPrefix: string;
  /** Concurrent calls with the same key share one promise. */
  readonly once: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  readonly isCall: boolean;
  readonly telemetrySpanId: string | undefined;
  readonly status: JobStatus;
  readonly changeStatus: (change: Partial<JobStatus>) => string;
  readonly noteProgress: () => void;
  /** Waits, and frees the slot of the job meanwhile. @throws the abort reason */
  readonly wait: <T>(pause: Pause<T>, until: () => Promise<T>) => Promise<T>;
  readonly onCheckpoint: (snapshot: () => unknown) => void;
  readonly requeue: (request: RequeueRequest) => void;
  readonly readUpload: <K extends StreamKind>(which?: K | string) => AsyncIterableIterator<Content<K>>;
  readonly openStream: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
}

export interface Continuation {
  readonly causedBy?: string | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
}

export interface Pause<T> extends Pick<Commit, 'events' | 'records'> {
  readonly reason: string;
  readonly continuedBy?: ((result: T) => Continuation) | undefined;
}

export interface CancelRequest {
  readonly cause: CancelCause;
  readonly reason?: string | undefined;
  readonly deadlineMs?: number | undefined;
}

export interface RequeueRequest {
  readonly reason: string;
  readonly as: 'queued' | 'paused';
  readonly causedBy?: string | undefined;
}

export interface NewJob {
  readonly sessionId: string;
  readonly principal: string;
  readonly spec: JobSpec;
  readonly status?: JobStatus | undefined;
  readonly options: HandlerOptions;
  readonly maxQueued: number;
  /** Returns the records, events and job changes to add to the commit that starts the job. */
  readonly with: (job: {
    readonly jobId: string;
    readonly accepted: NewEvent;
  }) => Pick<Commit, 'records' | 'events' | 'jobs'>;
}
