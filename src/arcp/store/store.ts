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
  /** The sequence number, which is unique, and greater than those of all events of the session that were committed before. */
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

/** A job to add. The store sets all its times by its own clock. */
export interface NewJobRow
  extends Pick<
    JobRow,
    'jobId' | 'sessionId' | 'principal' | 'queue' | 'priority' | 'state' | 'attempt' | 'spec' | 'status'
  > {
  /** Milliseconds from now before which the job is not claimed. @default 0 */
  readonly delayMs?: number | undefined;
  /** The lease with which a worker starts the job at once. @default none */
  readonly lease?: { readonly worker: string; readonly leaseMs: number } | undefined;
}

/**
 * New values of a job. A job that is neither `running` nor `blocked` loses its lease; one whose state is final gets the time at which it ended.
 */
export interface JobPatch extends Partial<Pick<JobRow, 'state' | 'status'>> {
  /** Milliseconds from now before which the job is not claimed. @default unchanged */
  readonly delayMs?: number | undefined;
}

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
  /** The new value; `null` removes the record. @default unchanged: the change only expects a version */
  readonly value?: string | null | undefined;
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
  readonly newJobs?: readonly NewJobRow[] | undefined;
  /** The number of queued jobs at which new ones are refused. @default unlimited */
  readonly maxQueued?: number | undefined;
  /** Jobs to change. */
  readonly jobs?: readonly JobChange[] | undefined;
  /** Events to add. */
  readonly events?: readonly NewEvent[] | undefined;
}

/** The position of an event in the log. */
export interface EventPosition {
  /** The sequence number of the event. */
  readonly sequence: number;
  /** That of the event before it in its session; 0 for none. A reader whose last one is smaller has missed events of another process. */
  readonly previous: number;
}

/** The result of a commit. Unless the outcome is `done`, nothing was changed. */
export type CommitResult =
  | {
      readonly outcome: 'done';
      /** The positions of the events, in their order. */
      readonly positions: readonly EventPosition[];
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

/**
 * A query of events: those of a session, of a job or of a trace; all events without a selection. At most one of them may be given.
 *
 * A reader of one session, or of one job, that continues after the last number it has read misses no event, whichever processes write.
 */
export interface EventQuery {
  /** Selects the events of a session. */
  readonly sessionId?: string | undefined;
  /** Selects the events of a job. */
  readonly jobId?: string | undefined;
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
  /** Milliseconds for which the claimed jobs are leased. */
  readonly leaseMs: number;
  /** The maximum number of jobs to claim. */
  readonly limit: number;
}

/** An attempt at a job. */
export type JobAttempt = Pick<JobRow, 'jobId' | 'attempt'>;

/** A renewal of the leases of a worker. */
export interface Renewal {
  /** The id of the worker. */
  readonly worker: string;
  /** Milliseconds from now for which the jobs are leased. */
  readonly leaseMs: number;
  /** The jobs that the worker runs. */
  readonly jobs: readonly JobAttempt[];
}

/** New events of a session. */
export interface SessionChange {
  /** The session. */
  readonly sessionId: string;
  /** The sequence number of the last event. */
  readonly last: number;
}

/** The data that other processes have changed; a change without members means that any may have. */
export interface StoreChange {
  /** Sessions with new events. */
  readonly sessions?: readonly SessionChange[] | undefined;
  /** Queues with new jobs to claim. */
  readonly queues?: readonly string[] | undefined;
  /** Scopes with new records, of those that begin with `mail:`. */
  readonly mailboxes?: readonly string[] | undefined;
}

/** The jobs that wait in a queue. */
export interface QueueStats {
  /** The name of the queue. */
  readonly queue: string;
  /** The number of queued jobs. */
  readonly queued: number;
  /** The number of them that are due. */
  readonly due: number;
  /** The job that has been due for the longest time; `undefined` if none is due. */
  readonly oldest: Pick<JobRow, 'jobId' | 'dueAt'> | undefined;
}

/** The unread messages to a worker. */
export interface MailboxStats {
  /** The scope of the messages, which begins with `mail:`. */
  readonly mailbox: string;
  /** The number of unread messages. */
  readonly unread: number;
}

/** Statistics of a store, for people who operate it. */
export interface StoreStats {
  /** The queues that have queued jobs, in order of their names. */
  readonly queues: readonly QueueStats[];
  /** The mailboxes that have messages, in order of their scopes. */
  readonly mailboxes: readonly MailboxStats[];
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

/**
 * A store. Commits are applied and settled in order of the calls. A call that rejects with a {@link StoreError} has changed nothing.
 *
 * All processes that share the data have one clock, that of the store: it decides which jobs are due and which leases have expired, so that a
 * wrong clock of one of them loses nothing.
 */
export interface ArcpStore {
  /**
   * Returns the time of the store in milliseconds since 1970. It is never before the last event, and does not follow jumps of the wall clock.
   * A store on another machine estimates it.
   */
  readonly now: () => number;
  /** `true` if commits outlive the process. */
  readonly durable: boolean;
  /** Makes changes atomically. Resolves when they are stored, or were refused. */
  readonly commit: (commit: Commit) => Promise<CommitResult>;
  /** Returns events, in order of their sequence numbers. */
  readonly readEvents: (query: EventQuery) => Promise<readonly StoredEvent[]>;
  /** Returns the event of a message id. */
  readonly findEvent: (id: string) => Promise<StoredEvent | undefined>;
  /** Returns the last sequence number of each session, in the same order; 0 for a session without events. */
  readonly lastSequences: (sessionIds: readonly string[]) => Promise<readonly number[]>;
  /** Returns a job. */
  readonly readJob: (jobId: string) => Promise<JobRow | undefined>;
  /** Returns jobs, in order of their creation. */
  readonly listJobs: (query: JobQuery) => Promise<readonly JobRow[]>;
  /** Returns the number of queued jobs. Those beyond `max` need not be counted. */
  readonly countQueued: (queue: string, max: number) => Promise<number>;
  /** Claims queued jobs that are due and jobs whose lease has expired: sets them to `running`, with a new attempt and a lease of the worker. */
  readonly claimJobs: (claim: Claim) => Promise<readonly JobRow[]>;
  /** Returns the milliseconds after which the next job of the queues can be claimed; 0 for now, `undefined` if there is none. */
  readonly msUntilDue: (queues: readonly string[]) => Promise<number | undefined>;
  /** Renews leases. @returns the renewed ones; the worker has lost all others */
  readonly renewLeases: (renewal: Renewal) => Promise<readonly JobAttempt[]>;
  /** Returns a record. */
  readonly readRecord: (scope: string, key: string) => Promise<StoredRecord | undefined>;
  /** Returns records, in order of their keys by code unit or by code point. */
  readonly listRecords: (
    scope: string,
    options: { readonly after?: string | undefined; readonly limit: number },
  ) => Promise<readonly StoredRecord[]>;
  /** Returns statistics of the queues and mailboxes. */
  readonly readStats: () => Promise<StoreStats>;
  /** Removes data in batches, between which other calls are served. */
  readonly trim: (policy: TrimPolicy) => Promise<TrimReport>;
  /**
   * Calls a function soon after other users of the data have changed them. Calls may be missing, late or unnecessary, so that readers also have
   * to look at intervals. @returns a function that stops the calls
   */
  readonly watch: (onChange: (change: StoreChange) => void) => () => void;
  /** Closes the store. Later calls reject with the reason `closed`. */
  readonly close: () => Promise<void>;
}

/** The states of a job that has not ended. */
export const LIVE_STATES: readonly JobState[] = ['accepted', 'queued', 'running', 'blocked', 'paused'];
