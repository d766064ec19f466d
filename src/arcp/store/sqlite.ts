/** A store in a SQLite file. Commits survive the end of the process, including a crash. */
import { everyUnref, monotonicClock, nextTurn } from '../../async/timers.js';
import type { Database, Row, SqlValue, Statement } from '../../storage/database.js';
import { storeError } from '../../storage/errors.js';
import {
  type OpenDatabase,
  openStore,
  resolveBusyTimeout,
  resolveFile,
  type SqliteOptions,
} from '../../storage/open.js';
import { StoreError } from '../../text/store-error.js';
import { GroupCommit } from './group-commit.js';
import { byUrgency, type ChangedValues, changedValues, claimedRow, isExpected, type JobHead, newRow } from './rows.js';
import { openInThread } from './sqlite-caller.js';
import { sharedClock } from './sqlite-clock.js';
import {
  bound,
  eventOf,
  jobOf,
  jobsQuery,
  jobValues,
  prepareStatements,
  RUNTIME_FORMAT,
  recordOf,
  type Statements,
} from './sqlite-schema.js';
import type {
  ArcpStore,
  Claim,
  Commit,
  CommitResult,
  EventPosition,
  EventQuery,
  JobRow,
  MailboxStats,
  NewEvent,
  RecordChange,
  StoredEvent,
  StoreStats,
  TrimPolicy,
  TrimReport,
} from './store.js';

/** Options of a store in a SQLite file. */
export interface SqliteStoreOptions extends SqliteOptions {
  /** Milliseconds that a call waits, and blocks, while another process writes; `Infinity` waits forever. @default 1000 */
  readonly busyTimeoutMs?: number | undefined;
  /** If true, opens a file that is read-only for reading; writes fail with `unavailable`. Otherwise such a file is refused. @default false */
  readonly allowReadOnly?: boolean | undefined;
  /** The wall clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /**
   * If true, SQLite runs in a thread of its own, so that this one does not wait for the disk. Single calls take longer. Not with `driver`, since
   * threads do not share functions. @default false
   */
  readonly ownThread?: boolean | undefined;
}

/**
 * Opens or creates a store in a SQLite file, which only its owner can access and several processes may share. Commits of one turn of the event
 * loop become one transaction. If the thread of the store ends before the store is closed, pending calls fail with `unavailable`, or with
 * `outcome-unknown` if they may have changed something, and later calls fail with `closed`.
 *
 * @throws StoreError if the file cannot be opened, or is not that of an ARCP runtime
 * @throws TypeError if an option is invalid
 * @example
 * const runtime = createRuntime({ store: await sqliteStore('arcp.db') });
 */
export async function sqliteStore(file: string, options: SqliteStoreOptions = {}): Promise<ArcpStore> {
  const { now = Date.now, ownThread = false, driver, ...rest } = options;
  const common = { ...rest, busyTimeoutMs: resolveBusyTimeout(options.busyTimeoutMs ?? 1000) };
  if (!ownThread)
    return openSqlite(file, { ...common, driver }, (database, statements) => sharedClock(database, statements, now));
  if (driver !== undefined) throw new TypeError('driver cannot be used with ownThread: threads do not share functions');
  return openInThread(resolveFile(file), common, monotonicClock(now));
}

/** Opens a store in this thread. @param clockOf returns the clock of the file, in milliseconds since 1970 */
export function openSqlite(
  file: string,
  options: SqliteOptions & { readonly busyTimeoutMs: number; readonly allowReadOnly?: boolean | undefined },
  clockOf: (database: OpenDatabase, statements: Statements) => () => number,
): Promise<ArcpStore> {
  const create = (database: OpenDatabase) => new SqliteStore(database, file, options.busyTimeoutMs, clockOf);
  return openStore(file, { ...options, format: RUNTIME_FORMAT }, create);
}

/** A large value, since most rows of a job are rewritten at its end. */
const CHECKPOINT_PAGES = 4000;

/** The maximum number of rows that a transaction removes, since it blocks this and other processes. */
const TRIM_BATCH = 500;
const VACUUM_PAGES = 256;

/** The interval of looking for changes by other processes. */
const WATCH_INTERVAL_MS = 10;

class SqliteStore implements ArcpStore {
  readonly durable = true;
  readonly #database: Database;
  readonly #file: string;
  readonly #busyTimeoutMs: number;
  readonly now: () => number;
  readonly #statements: Statements;
  readonly #listings = new Map<string, Statement>();
  readonly #group: GroupCommit<Commit, CommitResult>;
  /** The last sequence numbers, as the current transaction has written them. */
  #ends: { sequence: number; readonly ofSessions: Map<string, number> } | undefined;
  #isClosed = false;

  constructor(
    database: OpenDatabase,
    file: string,
    busyTimeoutMs: number,
    clockOf: (database: OpenDatabase, statements: Statements) => () => number,
  ) {
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#database = database;
    this.#file = file;
    database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    this.#statements = prepareStatements(database);
    this.now = clockOf(database, this.#statements);
    this.#group = new GroupCommit({
      transaction: (work) =>
        this.#write(() => {
          this.#ends = undefined;
          return work();
        }),
      apply: (commit) => this.#apply(commit),
      isSingleCommitError: (error) => error instanceof StoreError && error.reason === 'failed',
    });
  }

  readonly commit = (commit: Commit): Promise<CommitResult> =>
    this.#isClosed ? Promise.reject(closed()) : this.#group.add(commit);

  readonly readEvents = (query: EventQuery): Promise<readonly StoredEvent[]> => this.#run(() => this.#read(query));

  readonly findEvent: ArcpStore['findEvent'] = (id) =>
    this.#run(() => {
      const row = this.#statements.eventById.get(id);
      return row && eventOf(row);
    });

  readonly lastSequences = (sessionIds: readonly string[]): Promise<readonly number[]> =>
    this.#run(() => sessionIds.map((sessionId) => this.#last(sessionId)));

  readonly readJob = (jobId: string): Promise<JobRow | undefined> => this.#run(() => this.#job(jobId));

  readonly listJobs: ArcpStore['listJobs'] = (query) =>
    this.#run(() => {
      const { sql, values } = jobsQuery(query);
      const statement = this.#listings.get(sql) ?? this.#database.prepare(sql);
      this.#listings.set(sql, statement);
      return statement.all(...values).map(jobOf);
    });

  readonly countQueued = (queue: string): Promise<number> => this.#run(() => this.#countQueued(queue));

  readonly claimJobs = (claim: Claim): Promise<readonly JobRow[]> =>
    this.#run(() => {
      // A read is cheaper than a lock.
      if (this.#due(claim).length === 0) return [];
      return this.#write(() => {
        const now = this.now();
        return this.#due(claim).map((due) => {
          const job = claimedRow(due, claim.worker, claim.leaseMs, now);
          this.#statements.claimJob.run(job.attempt, job.leaseOwner, job.leaseExpiresAt, job.jobId);
          return job;
        });
      });
    });

  readonly msUntilDue = (queues: readonly string[]): Promise<number | undefined> =>
    this.#run(() => {
      const among = JSON.stringify(queues);
      const { nextQueued, nextLeased } = this.#statements;
      const due = [nextQueued, nextLeased].map((statement) => statement.get(among)!['due'] as number | null);
      const known = due.filter((moment) => moment !== null);
      return known.length === 0 ? undefined : Math.max(0, Math.min(...known) - this.now());
    });

  readonly renewLeases: ArcpStore['renewLeases'] = ({ worker, leaseMs, jobs }) =>
    this.#run(() =>
      this.#write(() => {
        const until = this.now() + leaseMs;
        return jobs.filter(({ jobId, attempt }) => this.#statements.renew.get(until, jobId, attempt, worker));
      }),
    );

  readonly readRecord: ArcpStore['readRecord'] = (scope, key) =>
    this.#run(() => {
      const row = this.#statements.record.get(scope, key);
      return row && recordOf(row);
    });

  readonly listRecords: ArcpStore['listRecords'] = (scope, { after = '', limit }) =>
    this.#run(() => this.#statements.records.all(scope, after, bound(limit)).map(recordOf));

  readonly readStats = (): Promise<StoreStats> =>
    this.#run(() => {
      const { queueStats, dueSince, mailboxStats } = this.#statements;
      return {
        queues: queueStats.all(this.now()).map((row) => {
          const { queue, queued, due, dueAt } = row as { queue: string; queued: number; due: number; dueAt: number };
          const first = due === 0 ? undefined : dueSince.get(queue, dueAt);
          return { queue, queued, due, oldest: first && { jobId: first['jobId'] as string, dueAt } };
        }),
        mailboxes: mailboxStats.all().map((row) => ({ ...row }) as unknown as MailboxStats),
      };
    });

  readonly trim = async (policy: TrimPolicy): Promise<TrimReport> => {
    const removed = { jobs: 0, events: 0, records: 0 };
    let isDone = false;
    while (!isDone) {
      isDone = await this.#run(() => this.#write(() => this.#trim(policy, removed)));
      await new Promise<void>(nextTurn);
      // The next trim continues.
      if (this.#isClosed) return removed;
    }
    if (policy.sessionId === undefined) await this.#releaseSpace();
    return removed;
  };

  /** Polls the counter of changes by other connections, which SQLite keeps in shared memory. */
  readonly watch: ArcpStore['watch'] = (onChange) => {
    const statement = this.#database.prepare('PRAGMA data_version');
    const version = (): number => statement.get()!['data_version'] as number;
    let last = version();
    const stop = everyUnref(WATCH_INTERVAL_MS, () => {
      if (this.#isClosed) {
        stop();
        return;
      }
      let current: number;
      try {
        current = version();
      } catch {
        // Another process locks the file.
        return;
      }
      if (current === last) return;
      last = current;
      onChange({});
    });
    return stop;
  };

  readonly close = async (): Promise<void> => {
    if (this.#isClosed) return;
    this.#group.flush();
    this.#isClosed = true;
    this.#database.close();
  };

  async #run<T>(query: () => T): Promise<T> {
    if (this.#isClosed) throw closed();
    try {
      return query();
    } catch (thrown) {
      throw storeError(thrown, this.#file);
    }
  }

  #write<T>(work: () => T): T {
    try {
      return this.#database.transaction(work);
    } catch (thrown) {
      throw storeError(thrown, this.#file);
    }
  }

  /** Applies a commit within a transaction. All expectations are checked before any change. */
  #apply({ records = [], newJobs = [], jobs = [], events = [], maxQueued }: Commit): CommitResult {
    const { recordVersion, record, addJob } = this.#statements;
    for (const { scope, key, expect } of records) {
      if (expect === undefined || (recordVersion.get(scope, key)?.['version'] ?? 0) === expect) continue;
      const row = record.get(scope, key);
      return { outcome: 'conflict', scope, key, found: row && recordOf(row) };
    }
    const heads = new Map(jobs.map(({ jobId }) => [jobId, this.#head(jobId)]));
    for (const change of jobs)
      if (!isExpected(heads.get(change.jobId), change))
        return { outcome: 'fenced', jobId: change.jobId, found: this.#job(change.jobId) };
    for (const { queue } of maxQueued === undefined ? [] : newJobs) {
      const queued = this.#countQueued(queue);
      if (queued >= maxQueued!) return { outcome: 'full', queued };
    }
    for (const change of records) this.#setRecord(change);
    const now = this.now();
    for (const job of newJobs) addJob.run(...jobValues(newRow(job, now)));
    for (const { jobId, set } of jobs)
      if (Object.keys(set).length > 0)
        heads.set(jobId, this.#changeJob(jobId, changedValues(heads.get(jobId)!, set, now)));
    return { outcome: 'done', positions: this.#addEvents(events, now) };
  }

  #changeJob(jobId: string, changed: ChangedValues): JobHead {
    const { state, status, dueAt = null, hasLease, endedAt } = changed;
    const isKept = hasLease ? 1 : 0;
    this.#statements.changeJob.run(state, status, dueAt, isKept, isKept, endedAt, jobId);
    return changed;
  }

  #addEvents(events: readonly NewEvent[], now: number): EventPosition[] {
    const { addEvent, addTrace, lastSequence } = this.#statements;
    this.#ends ??= { sequence: lastSequence.get()!['last'] as number, ofSessions: new Map() };
    const ends = this.#ends;
    let before: NewEvent | undefined;
    for (const event of events) {
      const { jobId, traceId } = event;
      if (jobId !== undefined && traceId !== undefined && !(before?.jobId === jobId && before.traceId === traceId))
        addTrace.run(jobId, traceId);
      before = event;
    }
    return events.map(({ id, type, sessionId, jobId = null, streamId = null, traceId = null, isTerminal, body }) => {
      const sequence = ++ends.sequence;
      const previous = ends.ofSessions.get(sessionId) ?? this.#last(sessionId);
      ends.ofSessions.set(sessionId, sequence);
      addEvent.run(sequence, id, type, sessionId, jobId, streamId, traceId, isTerminal === true ? 1 : 0, body, now);
      return { sequence, previous };
    });
  }

  #last(sessionId: string): number {
    return this.#statements.lastOfSession.get(sessionId)!['last'] as number;
  }

  #setRecord({ scope, key, value, owner }: RecordChange): void {
    if (value === undefined) return;
    if (value === null) this.#statements.removeRecord.run(scope, key);
    else this.#statements.setRecord.run(scope, key, value, owner ?? null, this.now());
  }

  #countQueued(queue: string): number {
    return this.#statements.queued.get(queue)!['n'] as number;
  }

  #job(jobId: string): JobRow | undefined {
    const row = this.#statements.job.get(jobId);
    return row && jobOf(row);
  }

  #head(jobId: string): JobHead | undefined {
    return this.#statements.jobHead.get(jobId) as JobHead | undefined;
  }

  #due({ queues, limit }: Claim): JobRow[] {
    const { dueQueued, dueLeased } = this.#statements;
    const now = this.now();
    const rows = [
      ...dueLeased.all(now, JSON.stringify(queues), bound(limit)),
      ...queues.flatMap((queue) => dueQueued.all(queue, now, bound(limit))),
    ];
    return rows.map(jobOf).toSorted(byUrgency).slice(0, limit);
  }

  #read({ sessionId, jobId, traceId, after = 0, upTo = Number.MAX_SAFE_INTEGER, limit }: EventQuery): StoredEvent[] {
    const { events, eventsOfSession, eventsOfJob, eventsOfTrace } = this.#statements;
    const range = [after, upTo, bound(limit)] as const;
    let rows: readonly Row[];
    if (sessionId !== undefined) rows = eventsOfSession.all(sessionId, ...range);
    else if (jobId !== undefined) rows = eventsOfJob.all(jobId, ...range);
    else
      rows =
        traceId === undefined
          ? events.all(...range)
          : eventsOfTrace.all(traceId, traceId, after, upTo, traceId, ...range);
    return rows.map(eventOf);
  }

  /** Removes one batch within a transaction. @returns whether nothing is left */
  #trim(
    { endedBefore, storedBefore: before, sessionId: session }: TrimPolicy,
    removed: { -readonly [K in keyof TrimReport]: number },
  ): boolean {
    const s = this.#statements;
    let left = TRIM_BATCH;
    const drop = (kind: keyof TrimReport, statement: Statement, ...of: SqlValue[]): void => {
      if (left <= 0) return;
      const { length } = statement.all(...of, left);
      removed[kind] += length;
      left -= length;
    };
    if (endedBefore !== undefined)
      for (const { job_id } of s.endedJobs.all(endedBefore, left)) {
        drop('events', s.dropJobEvents, job_id!);
        drop('records', s.dropRecordsOf, job_id!);
        // The job is removed last, since the next batch finds the rest by it.
        if (left <= 0) break;
        s.dropJobTraces.run(job_id!);
        removed.jobs += s.dropJob.all(job_id!).length;
        left--;
      }
    if (before !== undefined) {
      drop('events', s.dropOldEvents, before);
      drop('records', s.dropOldRecords, before);
    }
    if (session !== undefined) {
      drop('events', s.dropSessionEvents, session);
      drop('records', s.dropRecordsOf, session);
    }
    return left > 0;
  }

  /** Returns the space of free pages and of the WAL to the file system. */
  async #releaseSpace(): Promise<void> {
    const free = (): number =>
      this.#isClosed ? 0 : (this.#database.prepare('PRAGMA freelist_count').get()!['freelist_count'] as number);
    if (free() === 0) return;
    for (let pages = free(), before = Number.POSITIVE_INFINITY; pages > 0 && pages < before; pages = free()) {
      before = pages;
      // If another process writes, a later trim retries.
      try {
        this.#database.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
      } catch {
        return;
      }
      await new Promise<void>(nextTurn);
    }
    if (this.#isClosed) return;
    // Does not wait for readers, which keep the WAL.
    try {
      this.#database.exec('PRAGMA busy_timeout = 0');
      this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    } catch {
      // The data remain safe in the WAL.
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${this.#busyTimeoutMs}`);
    }
  }
}

function closed(): StoreError {
  return new StoreError('closed', 'The store is closed');
}
