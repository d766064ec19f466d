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

/** A message that is kept. */
export interface NewEvent {
  /** The id of the message. No two events have the same. */
  readonly id: string;
  readonly type: string;
  /** The message as text, as it is sent, each time. */
  readonly body: string;
  readonly sessionId: string;
  readonly jobId?: string | undefined;
  readonly streamId?: string | undefined;
  readonly traceId?: string | undefined;
  /** The last event of its job. A second one is refused, whoever wants to write it. */
  readonly isTerminal?: boolean | undefined;
}

export interface StoredEvent extends NewEvent {
  /** Where it stands among all events: greater than that of each event committed before. */
  readonly sequence: number;
  /** Milliseconds since 1970, when it was committed. */
  readonly at: number;
}

/** A job as the store knows it; what it is about is the runtime's business. */
export interface JobRow {
  readonly jobId: string;
  readonly sessionId: string;
  readonly principal: string;
  readonly queue: string;
  /** Those with more are claimed before. */
  readonly priority: number;
  readonly state: JobState;
  /** How often it was begun; it rises with each claim, and fences off whoever worked on it before. */
  readonly attempt: number;
  /** Milliseconds since 1970, before which it is not claimed. */
  readonly runAfter: number;
  /** Who works on it, and until when nobody else may; `null` when nobody does. */
  readonly leaseOwner: string | null;
  readonly leaseUntil: number | null;
  /** What it is: text that never changes. */
  readonly spec: string;
  /** How it stands: text that does. */
  readonly status: string;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** What of a job may change. */
export type JobPatch = Partial<
  Pick<JobRow, 'state' | 'attempt' | 'runAfter' | 'leaseOwner' | 'leaseUntil' | 'status' | 'endedAt'>
>;

/** A change to a job, which is made only where it is still as expected. */
export interface JobChange {
  readonly jobId: string;
  /** The attempt that the change belongs to. Where there has been another one since, the change is fenced off. */
  readonly attempt?: number | undefined;
  /** @default those in which a job has not ended */
  readonly states?: readonly JobState[] | undefined;
  /** The status that the change was made from. @default any */
  readonly status?: string | undefined;
  readonly set: JobPatch;
}

/** Anything else that is kept: a command that was carried out, a session, a step, a lease, a checkpoint. */
export interface StoredRecord {
  readonly scope: string;
  readonly key: string;
  readonly value: string;
  /** Rises with each change, from 1 on. */
  readonly version: number;
  /** The job or session with which it goes. */
  readonly owner: string | null;
}

export interface RecordChange {
  readonly scope: string;
  readonly key: string;
  /** `null` removes it. */
  readonly value: string | null;
  /** Its version now, 0 where there must be none. Any, when it is not said. */
  readonly expect?: number | undefined;
  readonly owner?: string | undefined;
}

/** Changes of which all are made or none. Records are looked at first, then jobs, then the room for new ones. */
export interface Commit {
  readonly records?: readonly RecordChange[] | undefined;
  readonly newJobs?: readonly JobRow[] | undefined;
  /** How many jobs of their queue may be queued before the new ones. @default any number */
  readonly maxQueued?: number | undefined;
  readonly jobs?: readonly JobChange[] | undefined;
  readonly events?: readonly NewEvent[] | undefined;
}

export type CommitResult =
  /** The sequence numbers of the events, in their order. */
  | { readonly outcome: 'done'; readonly sequences: readonly number[] }
  /** A record is not as expected. */
  | {
      readonly outcome: 'conflict';
      readonly scope: string;
      readonly key: string;
      readonly found: StoredRecord | undefined;
    }
  /** A job is not as expected: another attempt has begun, or it is in another state, or there is none. */
  | { readonly outcome: 'fenced'; readonly jobId: string; readonly found: JobRow | undefined }
  /** As many jobs are queued as may be, or more. */
  | { readonly outcome: 'full'; readonly queued: number };

/** Which events are read: those of a session, of some jobs and of a trace, all together; all that there are where none is named. */
export interface EventQuery {
  readonly sessionId?: string | undefined;
  readonly jobIds?: readonly string[] | undefined;
  readonly traceId?: string | undefined;
  /** Only those behind it. @default 0 */
  readonly after?: number | undefined;
  /** Only those up to it. */
  readonly upTo?: number | undefined;
  readonly limit: number;
}

export interface JobQuery {
  readonly states?: readonly JobState[] | undefined;
  readonly sessionId?: string | undefined;
  readonly principal?: string | undefined;
  /** Those created after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A wish for work. */
export interface Claim {
  readonly worker: string;
  readonly queues: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Until when nobody else may work on them. */
  readonly leaseUntil: number;
  readonly limit: number;
  /**
   * Leases to take over, each as it was read: a job whose lease has been renewed or released since is not claimed, and no other job with a lease
   * is. @default those that ended before `now`
   */
  readonly lost?: readonly Lease[] | undefined;
}

/** The lease of a job that is worked on. */
export type Lease = Pick<JobRow, 'jobId' | 'attempt' | 'leaseOwner' | 'leaseUntil'>;

/** Work that somebody says to be still at. */
export interface Renewal {
  readonly worker: string;
  readonly leaseUntil: number;
  readonly jobs: readonly { readonly jobId: string; readonly attempt: number }[];
}

export interface TrimPolicy {
  /** Jobs that ended before, with all of theirs. Milliseconds since 1970. */
  readonly endedBefore?: number | undefined;
  /** Events of no job, and records without an owner that were changed last, before. */
  readonly before?: number | undefined;
  /** Everything of a session, its jobs excepted. */
  readonly session?: string | undefined;
}

export interface TrimReport {
  readonly jobs: number;
  readonly events: number;
  readonly records: number;
}

/**
 * All of it. Every call may reject with a {@link StoreError}, and has done nothing then.
 *
 * Commits are carried out in the order of the calls, and their promises are settled in that order.
 */
export interface ArcpStore {
  /**
   * Gives the store's time, in milliseconds since 1970. It starts with the wall clock, or with the last event of the store where that is later,
   * and goes on by a monotonic clock. @default a runtime's own
   */
  readonly now?: (() => number) | undefined;
  /** Whether what was committed outlives the process. */
  readonly durable: boolean;
  /** Resolves when all of it is safe, or nothing of it was done. */
  readonly commit: (commit: Commit) => Promise<CommitResult>;
  /** In the order of their sequence numbers. */
  readonly readEvents: (query: EventQuery) => Promise<readonly StoredEvent[]>;
  readonly findEvent: (id: string) => Promise<StoredEvent | undefined>;
  /** The sequence number of the last event; 0 when there was none. */
  readonly lastSequence: () => Promise<number>;
  readonly readJob: (jobId: string) => Promise<JobRow | undefined>;
  /** In the order of their creation. */
  readonly listJobs: (query: JobQuery) => Promise<readonly JobRow[]>;
  /** How many jobs of these queues are queued. */
  readonly countQueued: (queues: readonly string[]) => Promise<number>;
  /**
   * Jobs to work on: those queued whose time has come, and those running or blocked whose lease has run out. They are running then, with another
   * attempt, and leased to the worker.
   */
  readonly claimJobs: (claim: Claim) => Promise<readonly JobRow[]>;
  /** Lists the leases of jobs in these queues. */
  readonly listLeases: (queues: readonly string[]) => Promise<readonly Lease[]>;
  /** When there will be something to claim that is not there now: milliseconds since 1970. */
  readonly nextDue: (queues: readonly string[]) => Promise<number | undefined>;
  /** @returns the jobs as they stand that are still the worker's; of the others the lease was lost */
  readonly renewLeases: (renewal: Renewal) => Promise<readonly JobRow[]>;
  readonly readRecord: (scope: string, key: string) => Promise<StoredRecord | undefined>;
  /** In the order of their keys, by code unit or by code point. */
  readonly listRecords: (
    scope: string,
    options: { readonly after?: string | undefined; readonly limit: number },
  ) => Promise<readonly StoredRecord[]>;
  /** Removes what the policy names, in portions: other calls are carried out in between. */
  readonly trim: (policy: TrimPolicy) => Promise<TrimReport>;
  readonly close: () => Promise<void>;
}

/** States in which a job has not ended. */
export const LIVE_STATES: readonly JobState[] = ['accepted', 'queued', 'running', 'blocked', 'paused'];
