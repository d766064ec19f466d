/** A store in memory, for tests and for stateless sessions. */
import { monotonicClock } from '../../async/timers.js';
import { byUrgency, changedValues, claimedRow, isExpected, newRow } from './rows.js';
import {
  type ArcpStore,
  type Claim,
  type Commit,
  type CommitResult,
  type EventPosition,
  type EventQuery,
  type JobPatch,
  type JobQuery,
  type JobRow,
  type NewEvent,
  type NewJobRow,
  type QueueStats,
  type RecordChange,
  type StoreChange,
  type StoredEvent,
  type StoredRecord,
  StoreError,
  type StoreStats,
  type TrimPolicy,
  type TrimReport,
} from './store.js';

/** Options of a store in memory. */
export interface MemoryStoreOptions {
  /** The wall clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

type Scope = Map<string, StoredRecord & { readonly at: number }>;

/** Creates a store in memory, whose contents end with the process. */
export function memoryStore({ now = Date.now }: MemoryStoreOptions = {}): ArcpStore {
  return new MemoryStore(now);
}

/** The number of commits before yielding to the event loop, since sequential commits would starve timers. */
const COMMITS_PER_TURN = 256;

class MemoryStore implements ArcpStore {
  readonly durable = false;
  readonly now: () => number;
  /** Events by id, in order of their sequence numbers. */
  #events = new Map<string, StoredEvent>();
  readonly #ofSession = new Map<string, StoredEvent[]>();
  readonly #ofJob = new Map<string, StoredEvent[]>();
  readonly #jobs = new Map<string, JobRow>();
  readonly #queued = new Map<string, number>();
  readonly #scopes = new Map<string, Scope>();
  readonly #watchers = new Set<(change: StoreChange) => void>();
  #sequence = 0;
  #commits = 0;
  #isClosed = false;

  constructor(now: () => number) {
    this.now = monotonicClock(now);
  }

  readonly commit = async (commit: Commit): Promise<CommitResult> => {
    const result = await this.#run(() => this.#commit(commit));
    if (result.outcome === 'done') this.#notify();
    if (++this.#commits % COMMITS_PER_TURN === 0) await new Promise<void>((resolve) => setTimeout(resolve));
    return result;
  };

  readonly readEvents = (query: EventQuery): Promise<readonly StoredEvent[]> => this.#run(() => this.#read(query));

  readonly findEvent = (id: string): Promise<StoredEvent | undefined> => this.#run(() => this.#events.get(id));

  readonly lastSequences = (sessionIds: readonly string[]): Promise<readonly number[]> =>
    this.#run(() => sessionIds.map((sessionId) => this.#last(sessionId)));

  readonly readJob = (jobId: string): Promise<JobRow | undefined> => this.#run(() => this.#jobs.get(jobId));

  readonly listJobs = ({ states, sessionId, principal, after, limit }: JobQuery): Promise<readonly JobRow[]> =>
    this.#run(() => {
      const all = [...this.#jobs.values()];
      const from = after === undefined ? 0 : all.findIndex(({ jobId }) => jobId === after) + 1;
      return all
        .slice(from)
        .filter(
          (job) =>
            (states === undefined || states.includes(job.state)) &&
            (sessionId === undefined || job.sessionId === sessionId) &&
            (principal === undefined || job.principal === principal),
        )
        .slice(0, limit);
    });

  readonly countQueued = (queue: string): Promise<number> => this.#run(() => this.#queued.get(queue) ?? 0);

  readonly claimJobs = ({ worker, queues, leaseMs, limit }: Claim): Promise<readonly JobRow[]> =>
    this.#run(() => {
      const now = this.now();
      return this.#jobsIn(queues)
        .filter((job) => dueAt(job) <= now)
        .toSorted(byUrgency)
        .slice(0, limit)
        .map((job) => this.#put(claimedRow(job, worker, leaseMs, now)));
    });

  readonly msUntilDue = (queues: readonly string[]): Promise<number | undefined> =>
    this.#run(() => {
      const next = Math.min(...this.#jobsIn(queues).map(dueAt));
      return Number.isFinite(next) ? Math.max(0, next - this.now()) : undefined;
    });

  readonly renewLeases: ArcpStore['renewLeases'] = ({ worker, leaseMs, jobs }) =>
    this.#run(() =>
      jobs.filter(({ jobId, attempt }) => {
        const job = this.#jobs.get(jobId);
        if (job?.leaseOwner !== worker || job.attempt !== attempt) return false;
        this.#put({ ...job, leaseExpiresAt: this.now() + leaseMs });
        return true;
      }),
    );

  readonly readRecord = (scope: string, key: string): Promise<StoredRecord | undefined> =>
    this.#run(() => this.#record(scope, key));

  readonly listRecords: ArcpStore['listRecords'] = (scope, { after, limit }) =>
    this.#run(() =>
      [...(this.#scopes.get(scope)?.values() ?? [])]
        .filter(({ key }) => after === undefined || key > after)
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, limit)
        .map(plain),
    );

  readonly readStats = (): Promise<StoreStats> =>
    this.#run(() => {
      const queues = [...this.#queued].filter(([, queued]) => queued > 0).toSorted(byName);
      const mailboxes = [...this.#scopes].filter(([scope]) => scope.startsWith('mail:')).toSorted(byName);
      return {
        queues: queues.map(([queue, queued]) => ({ queue, queued, ...this.#due(queue) })),
        mailboxes: mailboxes.map(([mailbox, { size }]) => ({ mailbox, unread: size })),
      };
    });

  readonly trim = (policy: TrimPolicy): Promise<TrimReport> => this.#run(() => this.#trim(policy));

  readonly watch: ArcpStore['watch'] = (onChange) => {
    this.#watchers.add(onChange);
    return () => void this.#watchers.delete(onChange);
  };

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
  };

  /** Several runtimes may share the store, and their own changes tell them nothing new. */
  #notify(): void {
    if (this.#watchers.size > 1) for (const onChange of this.#watchers) onChange({});
  }

  async #run<T>(query: () => T): Promise<T> {
    if (this.#isClosed) throw new StoreError('closed', 'The store is closed');
    return query();
  }

  #commit({ records = [], newJobs = [], jobs = [], events = [], maxQueued }: Commit): CommitResult {
    for (const { scope, key, expect } of records) {
      const found = this.#record(scope, key);
      if (expect !== undefined && (found?.version ?? 0) !== expect) return { outcome: 'conflict', scope, key, found };
    }
    for (const change of jobs) {
      const found = this.#jobs.get(change.jobId);
      if (!isExpected(found, change)) return { outcome: 'fenced', jobId: change.jobId, found };
    }
    for (const { queue } of newJobs) {
      const queued = this.#queued.get(queue) ?? 0;
      if (maxQueued !== undefined && queued >= maxQueued) return { outcome: 'full', queued };
    }
    this.#check(newJobs, events);
    for (const change of records) this.#set(change);
    const now = this.now();
    for (const job of newJobs) this.#put(newRow(job, now));
    for (const { jobId, set } of jobs) this.#change(this.#jobs.get(jobId)!, set, now);
    return { outcome: 'done', positions: events.map((event) => this.#append(event)) };
  }

  #check(newJobs: readonly NewJobRow[], events: readonly NewEvent[]): void {
    for (const { jobId } of newJobs)
      if (this.#jobs.has(jobId)) throw new StoreError('failed', `The job ${jobId} already exists`);
    const ended = new Set<string>();
    for (const { id, jobId, isTerminal } of events) {
      if (this.#events.has(id)) throw new StoreError('failed', `The event ${id} already exists`);
      if (isTerminal !== true || jobId === undefined) continue;
      if (ended.has(jobId) || this.#ofJob.get(jobId)?.some((event) => event.isTerminal === true))
        throw new StoreError('failed', `The job ${jobId} has already ended`);
      ended.add(jobId);
    }
  }

  #append(event: NewEvent): EventPosition {
    const previous = this.#last(event.sessionId);
    const stored = { ...event, sequence: ++this.#sequence, storedAt: this.now() };
    this.#events.set(event.id, stored);
    push(this.#ofSession, event.sessionId, stored);
    if (event.jobId !== undefined) push(this.#ofJob, event.jobId, stored);
    return { sequence: stored.sequence, previous };
  }

  #last(sessionId: string): number {
    return this.#ofSession.get(sessionId)?.at(-1)?.sequence ?? 0;
  }

  #read({ sessionId, jobId, traceId, after = 0, upTo = Number.POSITIVE_INFINITY, limit }: EventQuery): StoredEvent[] {
    let found: readonly StoredEvent[];
    if (sessionId !== undefined) found = this.#ofSession.get(sessionId) ?? [];
    else if (jobId !== undefined) found = this.#ofJob.get(jobId) ?? [];
    else found = [...this.#events.values()].filter((event) => traceId === undefined || event.traceId === traceId);
    const tail = found.slice(lowerBound(found, after));
    return tail.filter(({ sequence }) => sequence <= upTo).slice(0, limit);
  }

  #jobsIn(queues: readonly string[]): JobRow[] {
    return [...this.#jobs.values()].filter(({ queue }) => queues.includes(queue));
  }

  #due(queue: string): Pick<QueueStats, 'due' | 'oldest'> {
    const now = this.now();
    const due = this.#jobsIn([queue])
      .filter((job) => job.state === 'queued' && job.dueAt <= now)
      .toSorted((a, b) => a.dueAt - b.dueAt);
    const [first] = due;
    return { due: due.length, oldest: first && { jobId: first.jobId, dueAt: first.dueAt } };
  }

  #change(job: JobRow, set: JobPatch, now: number): void {
    const { dueAt = job.dueAt, hasLease, ...changed } = changedValues(job, set, now);
    this.#put({ ...job, ...changed, dueAt, ...(hasLease ? {} : { leaseOwner: null, leaseExpiresAt: null }) });
  }

  #put(job: JobRow): JobRow {
    this.#count(this.#jobs.get(job.jobId), -1);
    this.#count(job, 1);
    this.#jobs.set(job.jobId, job);
    return job;
  }

  #count(job: JobRow | undefined, change: number): void {
    if (job?.state === 'queued') this.#queued.set(job.queue, (this.#queued.get(job.queue) ?? 0) + change);
  }

  #record(scope: string, key: string): StoredRecord | undefined {
    const found = this.#scopes.get(scope)?.get(key);
    return found && plain(found);
  }

  #set({ scope, key, value, owner }: RecordChange): void {
    if (value === undefined) return;
    const entries = this.#scopes.get(scope) ?? new Map();
    const version = (entries.get(key)?.version ?? 0) + 1;
    const newOwner = owner ?? entries.get(key)?.owner ?? null;
    if (value === null) entries.delete(key);
    else entries.set(key, { scope, key, value, version, owner: newOwner, at: this.now() });
    if (entries.size === 0) this.#scopes.delete(scope);
    else this.#scopes.set(scope, entries);
  }

  #trim({ endedBefore, storedBefore: before, sessionId: session }: TrimPolicy): TrimReport {
    const removedJobs = new Set<string>();
    for (const { jobId, endedAt } of this.#jobs.values())
      if (endedBefore !== undefined && endedAt !== null && endedAt < endedBefore) removedJobs.add(jobId);
    for (const jobId of removedJobs) {
      this.#count(this.#jobs.get(jobId), -1);
      this.#jobs.delete(jobId);
    }
    const isOld = (at: number): boolean => before !== undefined && at < before;
    const events = this.#dropEvents(({ jobId, sessionId, storedAt }) =>
      jobId === undefined ? isOld(storedAt) || sessionId === session : removedJobs.has(jobId),
    );
    let records = 0;
    for (const [scope, entries] of this.#scopes) {
      for (const [key, { owner, at }] of entries)
        if (owner === null ? isOld(at) : removedJobs.has(owner) || owner === session) {
          entries.delete(key);
          records++;
        }
      if (entries.size === 0) this.#scopes.delete(scope);
    }
    return { jobs: removedJobs.size, events, records };
  }

  #dropEvents(isRemoved: (event: StoredEvent) => boolean): number {
    const before = this.#events.size;
    this.#events = new Map([...this.#events].filter(([, event]) => !isRemoved(event)));
    for (const index of [this.#ofSession, this.#ofJob])
      for (const [key, events] of index) {
        const kept = events.filter((event) => !isRemoved(event));
        if (kept.length === 0) index.delete(key);
        else index.set(key, kept);
      }
    return before - this.#events.size;
  }
}

function dueAt({ state, dueAt, leaseExpiresAt }: JobRow): number {
  if (state === 'queued') return dueAt;
  return leaseExpiresAt ?? Number.POSITIVE_INFINITY;
}

function plain({ scope, key, value, version, owner }: StoredRecord): StoredRecord {
  return { scope, key, value, version, owner };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function push(index: Map<string, StoredEvent[]>, key: string, event: StoredEvent): void {
  const events = index.get(key);
  if (events === undefined) index.set(key, [event]);
  else events.push(event);
}

function lowerBound(events: readonly StoredEvent[], after: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle]!.sequence > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
