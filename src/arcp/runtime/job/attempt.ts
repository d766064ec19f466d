/** One attempt at a job, as what its handler is given sees it. */
import type { CancelCause } from '../../protocol/payloads/execution.js';
import type { StreamKind } from '../../protocol/payloads/streaming.js';
import type { CommitResult, JobChange, JobRow, NewEvent, RecordChange } from '../../store/store.js';
import type { Content, StreamOptions, StreamWriter } from '../../streams/content.js';
import type { EventLog } from '../events/log.js';
import type { Permissions } from '../permissions/leases.js';
import type { StreamRegistry, Uploads } from '../streams.js';
import type { Telemetry, Work, WorkOptions } from '../types.js';
import type { JobMessages } from './messages.js';
import type { JobOutbox } from './outbox.js';
import type { JobSpec, JobStatus } from './spec.js';

/** What a job needs of its runtime. */
export interface JobHost {
  readonly log: EventLog;
  readonly now: () => number;
  readonly streams: StreamRegistry;
  readonly uploads: Uploads;
  /** Resolves when a session has taken what it was sent; `undefined` when it has, or nobody is there. */
  readonly drained: (sessionId: string) => Promise<void> | undefined;
  readonly permissions: Permissions;
  readonly telemetry?: Telemetry | undefined;
  /** Something that was worked on waits: others may be worked on in its place. */
  readonly madeRoom: () => void;
  /** Waits for the end of another job. @throws ArcpError what it failed with */
  readonly outcomeOf: (jobId: string) => Promise<unknown>;
  /** Begins other work. */
  readonly startChild: (job: NewJob) => Promise<CommitResult>;
  /** It was cancelled: so is what it has begun. */
  readonly cancelChildren: (jobId: string) => Promise<void>;
  /** What a job calls. */
  readonly find: (kind: Work['kind'], name: string) => Work | undefined;
  /** Milliseconds that work may go on after it was cancelled, unless who cancels says otherwise. */
  readonly cancelGraceMs: number;
}

export interface Attempt {
  readonly host: JobHost;
  readonly row: JobRow;
  readonly spec: JobSpec;
  /** What is being done. */
  readonly work: Work;
  readonly messages: JobMessages;
  readonly log: EventLog;
  readonly outbox: JobOutbox;
  readonly signal: AbortSignal;
  /** Stands before the names of steps: calls within the job have steps of their own. */
  readonly stepPrefix: string;
  /** Runs something once: whoever asks for the same key while it runs gets the same promise. */
  readonly once: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  /** Whether it is a call within the job. */
  readonly isCall: boolean;
  /** What telemetry calls this attempt. */
  readonly telemetrySpanId: string | undefined;
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
  /** Says where it stands, when a client asks for a checkpoint. */
  readonly onCheckpoint: (snapshot: () => unknown) => void;
  /** Ends this attempt, for another one. */
  readonly requeue: (putBack: Requeue) => void;
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
  readonly continuedBy?: ((result: T) => Continued) | undefined;
}

/** Why work is to end. */
export interface CancelRequest {
  readonly cause: CancelCause;
  readonly reason?: string | undefined;
  /** Milliseconds until it is ended by force. */
  readonly deadlineMs?: number | undefined;
}

/** Why an attempt is to end, for another one. */
export interface Requeue {
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
  /** Committed with it. */
  readonly with: (job: Accepted) => {
    readonly records: readonly RecordChange[];
    readonly events?: readonly NewEvent[];
    readonly jobs?: readonly JobChange[];
  };
}

export interface Accepted {
  readonly jobId: string;
  readonly messages: JobMessages;
  /** The message that tells of it. */
  readonly told: NewEvent;
}
