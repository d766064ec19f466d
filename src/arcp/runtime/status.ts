/** The state of the runtimes, queues and jobs of a store, for the people who operate them. */
import type { ArcpStore, JobRow, QueueStats } from '../store/store.js';
import { jobsOf } from './engine/jobs.js';
import { LEASED_STATES, specOf } from './job/spec.js';
import { mailboxOf, workerOfMailbox } from './mail/mail.js';
import { type Page, pagesOf } from './pages.js';
import { type RuntimePresence, runtimesOf } from './presence.js';

/** The state of all that uses a store. Times are those of its clock. */
export interface StoreStatus {
  /** The time of the status. Milliseconds since 1970. */
  readonly at: number;
  /** The runtimes, in order of their starts; then workers that left jobs or messages. */
  readonly runtimes: readonly RuntimeStatus[];
  /** The queues that have queued jobs or are served by a runtime, in order of their names. */
  readonly queues: readonly QueueStatus[];
  /** The jobs whose lease has expired. A runtime that serves their queue takes them over. */
  readonly expiredJobs: readonly LeasedJob[];
}

/** The state of a runtime. */
export interface RuntimeStatus {
  /** The id of its worker. */
  readonly worker: string;
  /**
   * The state: a `draining` runtime starts no more jobs, a `lost` one has not renewed its presence in time, and of an `ended` one only jobs or
   * messages are left.
   */
  readonly state: 'running' | 'draining' | 'lost' | 'ended';
  /** Its own description; `undefined` if it has ended. */
  readonly presence: RuntimePresence | undefined;
  /** The number of running jobs whose lease it has. */
  readonly running: number;
  /** The number of jobs whose lease it has that wait for a permission or another job. */
  readonly blocked: number;
  /** Milliseconds to the end of the lease that ends first, negative after it; `undefined` without leases. */
  readonly leaseLeftMs: number | undefined;
  /** The number of messages of other runtimes that it has not read. */
  readonly unread: number;
}

/** The state of a queue. */
export interface QueueStatus extends QueueStats {
  /** The number of runtimes that start jobs of the queue. */
  readonly runtimes: number;
}

/** A job that a worker runs, or ran until its lease expired. */
export interface LeasedJob extends Pick<JobRow, 'jobId' | 'queue' | 'state' | 'attempt'> {
  /** The tool, workflow or agent of the job. */
  readonly target: string;
  /** The id of the worker. */
  readonly worker: string;
  /** The end of the lease. Milliseconds since 1970. */
  readonly leaseExpiresAt: number;
}

/**
 * Returns the state of the runtimes, queues and jobs of a store. It only reads, while runtimes use the store.
 *
 * @throws StoreError if the store cannot be read
 * @example
 * const { queues } = await statusOf(store);
 * const unserved = queues.filter(({ queued, runtimes }) => queued > 0 && runtimes === 0);
 */
export async function statusOf(store: ArcpStore): Promise<StoreStatus> {
  const [presences, stats] = await Promise.all([runtimesOf(store), store.readStats()]);
  const leased: LeasedJob[] = [];
  for await (const row of jobsOf(store, { states: LEASED_STATES })) leased.push(...leasedJob(row));
  const at = store.now();
  const unread = new Map(stats.mailboxes.map(({ mailbox, unread: count }) => [workerOfMailbox(mailbox), count]));
  const byWorker = new Map(presences.toSorted((a, b) => a.startedAt - b.startedAt).map((one) => [one.worker, one]));
  const workers = new Set([...byWorker.keys(), ...leased.map(({ worker }) => worker), ...unread.keys()]);
  const runtimes = [...workers].map((worker): RuntimeStatus => {
    const presence = byWorker.get(worker);
    const jobs = leased.filter((job) => job.worker === worker);
    const running = jobs.filter(({ state }) => state === 'running').length;
    return {
      ...{ worker, state: stateOf(presence, at), presence, running, blocked: jobs.length - running },
      leaseLeftMs: jobs.length === 0 ? undefined : Math.min(...jobs.map((job) => job.leaseExpiresAt)) - at,
      unread: unread.get(worker) ?? 0,
    };
  });
  const serving = runtimes.flatMap(({ state, presence }) => (state === 'running' ? presence!.queues : []));
  const waiting = new Map(stats.queues.map((queue) => [queue.queue, queue]));
  const queues = [...new Set([...waiting.keys(), ...serving])].toSorted().map(
    (queue): QueueStatus => ({
      ...(waiting.get(queue) ?? { queue, queued: 0, due: 0, oldest: undefined }),
      runtimes: serving.filter((served) => served === queue).length,
    }),
  );
  return { at, runtimes, queues, expiredJobs: leased.filter(({ leaseExpiresAt }) => leaseExpiresAt <= at) };
}

/** Removes the messages to runtimes that have ended. Those to a worker that has leases stay, since its presence may not be stored yet. */
export async function removeMailOfEnded(store: ArcpStore): Promise<void> {
  const { runtimes } = await statusOf(store);
  for (const { worker, state, running, blocked } of runtimes) {
    if (state !== 'ended' || running + blocked > 0) continue;
    const list = (page: Page) => store.listRecords(mailboxOf(worker), page);
    for await (const mails of pagesOf(list, ({ key }) => key))
      await store.commit({ records: mails.map(({ scope, key }) => ({ scope, key, value: null })) });
  }
}

function stateOf(presence: RuntimePresence | undefined, at: number): RuntimeStatus['state'] {
  if (presence === undefined) return 'ended';
  if (presence.expiresAt <= at) return 'lost';
  return presence.isDraining ? 'draining' : 'running';
}

function leasedJob(row: JobRow): LeasedJob[] {
  const { jobId, queue, state, attempt, leaseOwner, leaseExpiresAt } = row;
  if (leaseOwner === null || leaseExpiresAt === null) return [];
  return [{ jobId, target: specOf(row).target, queue, state, attempt, worker: leaseOwner, leaseExpiresAt }];
}
