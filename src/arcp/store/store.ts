/**
 * The interface of stores: a runtime stores events, jobs, and records of everything else. Messages are committed before they are sent, and
 * sessions are cursors over them, so that a reconnection, a slow client and a restart are handled alike.
 *
 * To write your own store, implement {@link ArcpStore}; `test/arcp/store-contract.ts` tests an implementation.
 *
 * Source: spec 003, "Jobs" ("Durable runtimes SHOULD persist the last known state"), "Resumability".
 */
import type { JobState } from '../protocol/payloads/parts.js';

export { StoreError, type StoreReason } from '../../text/store-error.js';

/** A message to store. */
export interface NewEvent {
  /** The id of the message, which is unique. */
  readonly id: string;
  /** The type of the message. */
  readonly type: string;
  /** The text of the message, which is sent unchanged each time. */
  readonly body: string;
  /** The session to which it is sent. */
  readonly sessionId: string;
  /** The job that it is about. */
  readonly jobId?: string | undefined;
  /** The stream that it is about. */
  readonly streamId?: string | undefined;
  /** Its trace. */
  readonly traceId?: string | undefined;
  /** `true` for the last event of its job; a second one must be refused. */
  readonly isTerminal?: boolean | undefined;
}

/** A message of the log, with its position. */
export interface StoredEvent extends NewEvent {
  /** The sequence number, greater than that of all events committed before. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly storedAt: number;
}

/** The current values of a job. */
export interface JobRow {
  /** The id of the job. */
  readonly jobId: string;
  /** The session that started it. */
  readonly sessionId: string;
  /** The principal of that session. */
  readonly principal: string;
  /** The queue in which it waits. */
  readonly queue: string;
  /** The priority; jobs of a higher one are claimed earlier. */
  readonly priority: number;
  /** The state of the job. */
  readonly state: JobState;
  /** The number of the attempt. It increases with each claim, and so fences off earlier workers. */
  readonly attempt: number;
  /** Milliseconds since 1970 before which the job is not claimed. */
  readonly dueAt: number;
  /** The worker that runs the job; `null` if there is none. */
  readonly leaseOwner: string | null;
  /** Milliseconds since 1970; `null` without a lease. */
  readonly leaseExpiresAt: number | null;
  /** A text of the runtime that does not change. */
  readonly spec: string;
  /** A text of the runtime that changes. */
  readonly status: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970; `null` before the end. */
  readonly endedAt: number | null;
}

/** New values of the columns of a job that can change. */
export type JobPatch = Partial<
  Pick<JobRow, 'state' | 'attempt' | 'dueAt' | 'leaseOwner' | 'leaseExpiresAt' | 'status' | 'endedAt'>
>;

/** A change of a job, which is refused unless the job is as expected. */
export interface JobChange {
  /** The id of the job. */
  readonly jobId: string;
  /** The expected attempt. @default any */
  readonly attempt?: number | undefined;
  /** The expected states. @default {@link LIVE_STATES} */
  readonly states?: readonly JobState[] | undefined;
  /** The expected status. @default any */
  readonly status?: string | undefined;
  /** The values that change; others stay. */
  readonly set: JobPatch;
}

/** A stored record: a command, a session, a step, a lease or a checkpoint. */
export interface StoredRecord {
  /** The scope of the key. */
  readonly scope: string;
  /** The key, which is unique in its scope. */
  readonly key: string;
  /** A text of the runtime. */
  readonly value: string;
  /** The version: 1 at first, one more with each change. */
  readonly version: number;
  /** The job or session with which it is removed; `null` for none. */
  readonly owner: string | null;
}

/** A change of a record. */
export interface RecordChange {
  /** The scope of the key. */
  readonly scope: string;
  /** The name of the record within its scope. */
  readonly key: string;
  /** The new value; `null` removes the record. */
  readonly value: string | null;
  /** The expected version; 0 if the record must not exist. @default any */
  readonly expect?: number | undefined;
  /** The job or session with which the record is removed. @default unchanged */
  readonly owner?: string | undefined;
}

/** Changes to make atomically. Expectations of records are checked first, then those of jobs, then the queues. */
export interface Commit {
  /** Records to change. */
  readonly records?: readonly RecordChange[] | undefined;
  /** Jobs to add. */
  readonly newJobs?: readonly JobRow[] | undefined;
  /** The number of queued jobs at which new ones are refused. @default unlimited */
  readonly maxQueued?: number | undefined;
  /** Jobs to change. */
  readonly jobs?: readonly JobChange[] | undefined;
  /** Events to add. */
  readonly events?: readonly NewEvent[] | undefined;
}

/** The result of a commit. Unless the outcome is `done`, nothing was changed. */
export type CommitResult =
  | {
      readonly outcome: 'done';
      /** The sequence numbers of the events. */
      readonly sequences: readonly number[];
    }
  /** A record is not as expected. */
  | {
      readonly outcome: 'conflict';
      /** The scope of the record. */
      readonly scope: string;
      /** The name of the record within its scope. */
      readonly key: string;
      /** The record as it is, or `undefined` if there is none. */
      readonly found: StoredRecord | undefined;
    }
  /** A job is not as expected. */
  | {
      readonly outcome: 'fenced';
      /** The id of the job. */
      readonly jobId: string;
      /** The job as it is, or `undefined` if there is none. */
      readonly found: JobRow | undefined;
    }
  /** The queue is full. */
  | {
      readonly outcome: 'full';
      /** The number of queued jobs. */
      readonly queued: number;
    };

/** A query of events: the union of those of a session, of jobs and of a trace; all events without a selection. */
export interface EventQuery {
  /** Selects the events of a session. */
  readonly sessionId?: string | undefined;
  /** Selects the events of jobs. */
  readonly jobIds?: readonly string[] | undefined;
  /** Selects the events of a trace. */
  readonly traceId?: string | undefined;
  /** The sequence number after which to start. @default 0 */
  readonly after?: number | undefined;
  /** The last sequence number to return. @default unlimited */
  readonly upTo?: number | undefined;
  /** The maximum number of events to return. */
  readonly limit: number;
}

/** A query of jobs: those that match all given members. */
export interface JobQuery {
  /** The states to return. @default all */
  readonly states?: readonly JobState[] | undefined;
  /** The session. @default any */
  readonly sessionId?: string | undefined;
  /** The principal. @default any */
  readonly principal?: string | undefined;
  /** The id of the job after which to start, in order of creation. */
  readonly after?: string | undefined;
  /** The maximum number of jobs to return. */
  readonly limit: number;
}

/** A claim of jobs by a worker. */
export interface Claim {
  /** The id of the worker. */
  readonly worker: string;
  /** The queues whose jobs to claim. */
  readonly queues: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds since 1970 until which the claimed jobs are leased. */
  readonly leaseExpiresAt: number;
  /** The maximum number of jobs to claim. */
  readonly limit: number;
  /** Leases to take over, unless they were renewed since. @default those that expired before `now` */
  readonly lost?: readonly Lease[] | undefined;
}

/** The lease of a job. */
export type Lease = Pick<JobRow, 'jobId' | 'attempt' | 'leaseOwner' | 'leaseExpiresAt'>;

/** A renewal of the leases of a worker. */
export interface Renewal {
  /** The id of the worker. */
  readonly worker: string;
  /** Milliseconds since 1970 until which the jobs are leased. */
  readonly leaseExpiresAt: number;
  /** The jobs that the worker runs. */
  readonly jobs: readonly { readonly jobId: string; readonly attempt: number }[];
}

/** The data to remove. */
export interface TrimPolicy {
  /** Removes jobs that ended earlier, with their events and records. Milliseconds since 1970. */
  readonly endedBefore?: number | undefined;
  /** Removes older events without a job, and older records without an owner. Milliseconds since 1970. */
  readonly storedBefore?: number | undefined;
  /** Removes the events and records of a session, but not its jobs. */
  readonly sessionId?: string | undefined;
}

/** The numbers of removed data. */
export interface TrimReport {
  /** The number of removed jobs. */
  readonly jobs: number;
  /** The number of removed events. */
  readonly events: number;
  /** The number of removed records. */
  readonly records: number;
}

/** A store. Commits are applied and settled in order of the calls. A call that rejects with a {@link StoreError} has changed nothing. */
export interface ArcpStore {
  /** Returns the monotonic time of the store in milliseconds since 1970, which is never before its last event. @default the clock of the runtime */
  readonly now?: (() => number) | undefined;
  /** `true` if commits outlive the process. */
  readonly durable: boolean;
  /** Makes changes atomically. Resolves when they are stored, or were refused. */
  readonly commit: (commit: Commit) => Promise<CommitResult>;
  /** Returns events, in order of their sequence numbers. */
  readonly readEvents: (query: EventQuery) => Promise<readonly StoredEvent[]>;
  /** Returns the event of a message id. */
  readonly findEvent: (id: string) => Promise<StoredEvent | undefined>;
  /** Returns the last sequence number; 0 for an empty store. */
  readonly lastSequence: () => Promise<number>;
  /** Returns a job. */
  readonly readJob: (jobId: string) => Promise<JobRow | undefined>;
  /** Returns jobs, in order of their creation. */
  readonly listJobs: (query: JobQuery) => Promise<readonly JobRow[]>;
  /** Returns the number of queued jobs. */
  readonly countQueued: (queues: readonly string[]) => Promise<number>;
  /** Claims queued jobs that are due and jobs whose lease has expired: sets them to `running`, with a new attempt and a lease of the worker. */
  readonly claimJobs: (claim: Claim) => Promise<readonly JobRow[]>;
  /** Returns the leases of all jobs in queues. */
  readonly listLeases: (queues: readonly string[]) => Promise<readonly Lease[]>;
  /** Returns the time at which the next job can be claimed, in milliseconds since 1970. */
  readonly nextDue: (queues: readonly string[]) => Promise<number | undefined>;
  /** Renews leases. @returns the renewed jobs; the worker has lost all others */
  readonly renewLeases: (renewal: Renewal) => Promise<readonly JobRow[]>;
  /** Returns a record. */
  readonly readRecord: (scope: string, key: string) => Promise<StoredRecord | undefined>;
  /** Returns records, in order of their keys by code unit or by code point. */
  readonly listRecords: (
    scope: string,
    options: { readonly after?: string | undefined; readonly limit: number },
  ) => Promise<readonly StoredRecord[]>;
  /** Removes data in batches, between which other calls are served. */
  readonly trim: (policy: TrimPolicy) => Promise<TrimReport>;
  /** Closes the store. Later calls reject with the reason `closed`. */
  readonly close: () => Promise<void>;
}

/** The states of a job that has not ended. */
export const LIVE_STATES: readonly JobState[] = ['accepted', 'queued', 'running', 'blocked', 'paused'];
