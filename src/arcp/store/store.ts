/**
 * Where a runtime keeps what must not be lost: events, jobs, and records of all else. What is told to anybody is committed before;
 * sessions are cursors over it, so that a reconnect, a slow client and a restart are one and the same.
 *
 * A store of one's own is an object of the shape of {@link ArcpStore}; `test/arcp/store-contract.ts` tries whether it is one.
 *
 * Source: spec 003, "Jobs" ("Durable runtimes SHOULD persist the last known state"), "Resumability".
 */
import type { JobState } from '../protocol/payloads/parts.js';

export { StoreError, type StoreReason } from '../../text/store-error.js';

/** A message to store. */
export interface NewEvent {
  /** The unique id of the message. */
  readonly id: string;
  readonly type: string;
  /** The text of the message, which is sent unchanged each time. */
  readonly body: string;
  readonly sessionId: string;
  readonly jobId?: string | undefined;
  readonly streamId?: string | undefined;
  readonly traceId?: string | undefined;
  /** The last event of its job; a second one is refused. */
  readonly isTerminal?: boolean | undefined;
}

export interface StoredEvent extends NewEvent {
  /** Greater than that of each event committed before. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly storedAt: number;
}

export interface JobRow {
  readonly jobId: string;
  readonly sessionId: string;
  readonly principal: string;
  readonly queue: string;
  /** Higher is claimed earlier. */
  readonly priority: number;
  readonly state: JobState;
  /** Rises with each claim, and fences off former workers. */
  readonly attempt: number;
  /** Milliseconds since 1970; not claimed before. */
  readonly dueAt: number;
  /** The worker; `null` if there is none. */
  readonly leaseOwner: string | null;
  readonly leaseExpiresAt: number | null;
  /** Immutable text of the runtime. */
  readonly spec: string;
  /** Mutable text of the runtime. */
  readonly status: string;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** The mutable columns of a job. */
export type JobPatch = Partial<
  Pick<JobRow, 'state' | 'attempt' | 'dueAt' | 'leaseOwner' | 'leaseExpiresAt' | 'status' | 'endedAt'>
>;

/** A change of a job, which fails unless the job is as expected. */
export interface JobChange {
  readonly jobId: string;
  /** The expected attempt; a later one fences the change off. */
  readonly attempt?: number | undefined;
  /** @default the live states */
  readonly states?: readonly JobState[] | undefined;
  /** The expected status. @default any */
  readonly status?: string | undefined;
  readonly set: JobPatch;
}

/** Everything else: a command, a session, a step, a lease, a checkpoint. */
export interface StoredRecord {
  readonly scope: string;
  readonly key: string;
  readonly value: string;
  /** From 1; rises with each change. */
  readonly version: number;
  /** The job or session with which it is removed. */
  readonly owner: string | null;
}

export interface RecordChange {
  readonly scope: string;
  readonly key: string;
  /** `null` removes it. */
  readonly value: string | null;
  /** The expected version, 0 for none. @default any */
  readonly expect?: number | undefined;
  readonly owner?: string | undefined;
}

/** Atomic changes. Records are checked first, then jobs, then the queue. */
export interface Commit {
  readonly records?: readonly RecordChange[] | undefined;
  readonly newJobs?: readonly JobRow[] | undefined;
  /** Limit of queued jobs before the new ones. @default unlimited */
  readonly maxQueued?: number | undefined;
  readonly jobs?: readonly JobChange[] | undefined;
  readonly events?: readonly NewEvent[] | undefined;
}

export type CommitResult =
  | { readonly outcome: 'done'; readonly sequences: readonly number[] }
  /** A record is not as expected. */
  | {
      readonly outcome: 'conflict';
      readonly scope: string;
      readonly key: string;
      readonly found: StoredRecord | undefined;
    }
  /** A job is not as expected. */
  | { readonly outcome: 'fenced'; readonly jobId: string; readonly found: JobRow | undefined }
  /** The queue is full. */
  | { readonly outcome: 'full'; readonly queued: number };

/** Selects the events of a session, of jobs and of a trace together; all events without a selection. */
export interface EventQuery {
  readonly sessionId?: string | undefined;
  readonly jobIds?: readonly string[] | undefined;
  readonly traceId?: string | undefined;
  /** Exclusive. @default 0 */
  readonly after?: number | undefined;
  /** Inclusive. */
  readonly upTo?: number | undefined;
  readonly limit: number;
}

export interface JobQuery {
  readonly states?: readonly JobState[] | undefined;
  readonly sessionId?: string | undefined;
  readonly principal?: string | undefined;
  /** Exclusive, in order of creation. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface Claim {
  readonly worker: string;
  readonly queues: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly leaseExpiresAt: number;
  readonly limit: number;
  /** Leases to take over; a lease that was renewed since is not. @default those that ended before `now` */
  readonly lost?: readonly Lease[] | undefined;
}

export type Lease = Pick<JobRow, 'jobId' | 'attempt' | 'leaseOwner' | 'leaseExpiresAt'>;

export interface Renewal {
  readonly worker: string;
  readonly leaseExpiresAt: number;
  readonly jobs: readonly { readonly jobId: string; readonly attempt: number }[];
}

export interface TrimPolicy {
  /** Removes jobs that ended earlier, with everything of theirs. Milliseconds since 1970. */
  readonly endedBefore?: number | undefined;
  /** Removes older events without a job, and records without an owner. */
  readonly before?: number | undefined;
  /** Removes everything of a session but its jobs. */
  readonly session?: string | undefined;
}

export interface TrimReport {
  readonly jobs: number;
  readonly events: number;
  readonly records: number;
}

/** A store. Commits are carried out and settled in order of the calls. A call that rejects with {@link StoreError} has done nothing. */
export interface ArcpStore {
  /** The store's monotonic time in milliseconds since 1970, never before its last event. @default the runtime's clock */
  readonly now?: (() => number) | undefined;
  /** Commits outlive the process. */
  readonly durable: boolean;
  /** Resolves when all of it is stored, or nothing was done. */
  readonly commit: (commit: Commit) => Promise<CommitResult>;
  /** In order of sequence. */
  readonly readEvents: (query: EventQuery) => Promise<readonly StoredEvent[]>;
  readonly findEvent: (id: string) => Promise<StoredEvent | undefined>;
  /** 0 for an empty store. */
  readonly lastSequence: () => Promise<number>;
  readonly readJob: (jobId: string) => Promise<JobRow | undefined>;
  /** In order of creation. */
  readonly listJobs: (query: JobQuery) => Promise<readonly JobRow[]>;
  readonly countQueued: (queues: readonly string[]) => Promise<number>;
  /** Starts due queued jobs and jobs whose lease has expired: they are running, with a new attempt and a lease of the worker. */
  readonly claimJobs: (claim: Claim) => Promise<readonly JobRow[]>;
  readonly listLeases: (queues: readonly string[]) => Promise<readonly Lease[]>;
  /** The time of the next claimable job, in milliseconds since 1970. */
  readonly nextDue: (queues: readonly string[]) => Promise<number | undefined>;
  /** @returns the renewed jobs; the leases of others were lost */
  readonly renewLeases: (renewal: Renewal) => Promise<readonly JobRow[]>;
  readonly readRecord: (scope: string, key: string) => Promise<StoredRecord | undefined>;
  /** In the order of their keys, by code unit or by code point. */
  readonly listRecords: (
    scope: string,
    options: { readonly after?: string | undefined; readonly limit: number },
  ) => Promise<readonly StoredRecord[]>;
  /** Removes data in portions; other calls are carried out in between. */
  readonly trim: (policy: TrimPolicy) => Promise<TrimReport>;
  readonly close: () => Promise<void>;
}

/** The states before the end. */
export const LIVE_STATES: readonly JobState[] = ['accepted', 'queued', 'running', 'blocked', 'paused'];
