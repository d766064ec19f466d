/** One attempt at a job, as what its handler is given sees it. */
import type { CancelCause } from '../../protocol/payloads/execution.js';
import type { StreamKind } from '../../protocol/payloads/streaming.js';
import type { CommitResult, JobChange, JobRow, NewEvent, RecordChange } from '../../store/store.js';
import type { Content, StreamOptions, StreamWriter } from '../../streams/content.js';
import type { EventLog } from '../events/log.js';
import type { Permissions } from '../permissions/leases.js';
import type { Telemetry, Work, WorkOptions } from '../types.js';
import type { Voice } from './messages.js';
import type { JobOutbox } from './outbox.js';
import type { JobSpec, JobStatus } from './spec.js';

export interface Attempt {
  readonly row: JobRow;
  readonly spec: JobSpec;
  /** What is being done. */
  readonly work: Work;
  readonly voice: Voice;
  readonly log: EventLog;
  readonly outbox: JobOutbox;
  readonly signal: AbortSignal;
  /** Stands before the names of steps: calls within the job have steps of their own. */
  readonly stepPrefix: string;
  /** Runs something once: whoever asks for the same key while it runs gets the same promise. */
  readonly once: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  /** Whether it is a call within the job. */
  readonly isCall: boolean;
  readonly find: (kind: Work['kind'], name: string) => Work | undefined;
  readonly permissions: Permissions;
  readonly telemetry: Telemetry | undefined;
  /** What telemetry calls this attempt. */
  readonly toldAs: string | undefined;
  readonly status: JobStatus;
  /** @returns the status as text, to be committed */
  readonly changeStatus: (change: Partial<JobStatus>) => string;
  readonly noteProgress: () => void;
  /**
   * Waits for something that is done elsewhere; others may work in its place meanwhile.
   *
   * @throws what the signal is aborted with
   */
  readonly wait: <T>(pause: Pause<T>, until: () => Promise<T>) => Promise<T>;
  /** Begins other work. */
  readonly startChild: (job: NewJob) => Promise<CommitResult>;
  /** Waits for the end of another job. @throws ArcpError what it failed with */
  readonly outcomeOf: (jobId: string) => Promise<unknown>;
  /** Says where it stands, when a client asks for a checkpoint. */
  readonly onCheckpoint: (snapshot: () => unknown) => void;
  /** Ends this attempt, for another one. */
  readonly leave: (putBack: PutBack) => void;
  /** A stream that the client sends. */
  readonly readUpload: <K extends StreamKind>(which?: K | string) => AsyncIterableIterator<Content<K>>;
  /** @throws ArcpError `UNIMPLEMENTED` where the client reads no such streams */
  readonly openStream: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
}

/** What has set work going again. */
export interface Continued {
  readonly causedBy?: string | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
}

/** Why work waits. */
export interface Pause<T> {
  readonly reason: string;
  /** What is committed as it begins to. */
  readonly events?: readonly NewEvent[] | undefined;
  readonly records?: readonly RecordChange[] | undefined;
  /** What has set it going again: the message that did, and what else is told of it. */
  readonly after?: ((result: T) => Continued) | undefined;
}

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
