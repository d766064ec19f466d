/** Start, cancellation and end of jobs, on whichever runtime they run. */
import { deferred } from '../../../async/listeners.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import { outcomeIn } from '../../protocol/outcome.js';
import { newRow } from '../../store/rows.js';
import {
  type ArcpStore,
  type Commit,
  type CommitResult,
  type JobQuery,
  type JobRow,
  LIVE_STATES,
  type NewEvent,
  type NewJobRow,
  type StoredEvent,
  type StoredRecord,
} from '../../store/store.js';
import { childrenOf } from '../context/delegation.js';
import type { CancelRequest, NewJob } from '../job/attempt.js';
import { JobMessages } from '../job/messages.js';
import { changeOf, isIdle, isTerminal, NEW_STATUS, specOf, statusOf } from '../job/spec.js';
import { mailTo } from '../mail/mail.js';
import { CANCELS } from '../mail/order.js';
import { type Page, pagesOf } from '../pages.js';
import type { Engine } from './engine.js';

export async function startJob(engine: Engine, job: NewJob): Promise<CommitResult> {
  const { scheduler, log, store, now } = engine;
  const { options, spec, sessionId, principal } = job;
  const queue = options.queue ?? 'default';
  const jobId = newId('job');
  const startsNow = scheduler.reserve(jobId, queue);
  let startedRow: JobRow | undefined;
  try {
    const position = startsNow ? undefined : await positionIn(store, queue);
    const { worker, leaseMs } = scheduler;
    const added: NewJobRow = {
      jobId,
      sessionId,
      principal,
      queue,
      priority: options.priority ?? 0,
      state: startsNow ? 'running' : 'queued',
      attempt: startsNow ? 1 : 0,
      lease: startsNow ? { worker, leaseMs } : undefined,
      spec: JSON.stringify(spec),
      status: JSON.stringify(job.status ?? NEW_STATUS),
    };
    const row = newRow(added, now());
    if (startsNow) scheduler.leaseStarts();
    const messages = new JobMessages(log, row, spec);
    const accepted = messages.accepted(startsNow ? 'accepted' : 'queued', position);
    const { records, events = [], jobs = [] } = job.with({ jobId, accepted });
    const restored_from = job.status?.checkpointId;
    const started = startsNow ? messages.started(1, { worker, restored_from }) : [];
    const result = await log.commit({
      records,
      newJobs: [added],
      jobs,
      events: [...events, accepted, ...started],
      maxQueued: startsNow ? undefined : job.maxQueued,
    });
    if (result.outcome === 'full')
      throw new ArcpError('RESOURCE_EXHAUSTED', 'The queue is full; try again later', {
        details: { queued: result.queued },
      });
    if (result.outcome === 'done') {
      startedRow = row;
      scheduler.deadlines.watch(row, spec);
    }
    return result;
  } finally {
    if (!startsNow) scheduler.wake();
    else if (startedRow === undefined) scheduler.release(jobId);
    else scheduler.startReserved(startedRow, spec);
  }
}

/** Returns the number of jobs before a new one; `undefined` for a long queue. */
async function positionIn(store: ArcpStore, queue: string): Promise<number | undefined> {
  const position = await store.countQueued(queue, MAX_POSITION);
  return position < MAX_POSITION ? position : undefined;
}

/** The maximum position that a client receives, since counting takes longer the more jobs there are. */
const MAX_POSITION = 1000;

const MAX_TRIES = 10;

interface CancelOptions extends Pick<Commit, 'records' | 'events'> {
  readonly check?: ((row: JobRow) => void) | undefined;
}

type CancelResult =
  | { readonly outcome: 'requested' }
  | { readonly outcome: 'ended'; readonly row: JobRow }
  | { readonly outcome: 'conflict'; readonly found: StoredRecord | undefined };

/**
 * Cancels a job. An idle job ends at once; a running one receives the request, even after a restart.
 *
 * @throws ArcpError `NOT_FOUND` if there is no such job, `UNAVAILABLE` if the store cannot write, `ABORTED` if the job kept changing
 */
export async function cancelJob(
  engine: Engine,
  jobId: string,
  request: CancelRequest,
  { records = [], events = [], check }: CancelOptions = {},
): Promise<CancelResult> {
  const { log, store, scheduler } = engine;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const row = await store.readJob(jobId);
    if (row === undefined) throw new ArcpError('NOT_FOUND', 'The job does not exist');
    check?.(row);
    if (isTerminal(row.state)) return { outcome: 'ended', row };
    const live = scheduler.find(jobId);
    const stored = { scope: CANCELS, key: jobId, value: JSON.stringify(request), owner: jobId };
    const isElsewhere = live === undefined && row.leaseOwner !== null;
    const notice = isElsewhere ? [mailTo(row.leaseOwner!, { kind: 'job', jobId })] : [];
    const endsHere = live === undefined && isIdle(row.state);
    const commit = endsHere
      ? { records, ...endOf(engine, row, request, events) }
      : { records: [...records, stored, ...notice], events, jobs: [{ jobId, attempt: row.attempt, set: {} }] };
    const result = await log.commit(commit);
    if (result.outcome === 'conflict') return { outcome: 'conflict', found: result.found };
    if (result.outcome === 'fenced') continue;
    live?.cancel(request);
    // This process may be about to learn that it runs the job.
    if (isElsewhere) scheduler.obeyOrders(jobId);
    if (endsHere) await cancelChildren(engine, jobId);
    return { outcome: 'requested' };
  }
  throw new ArcpError('ABORTED', 'The job kept changing while it was cancelled; try again');
}

export async function cancelChildren(engine: Engine, jobId: string): Promise<void> {
  const request = { cause: 'runtime', reason: 'The parent job was cancelled' } as const;
  const list = (page: Page) => engine.store.listRecords(childrenOf(jobId), page);
  // The store groups the commits of one page.
  for await (const children of pagesOf(list, ({ key }) => key))
    await Promise.all(children.map(({ value }) => cancelJob(engine, value, request)));
}

export async function cancelJobsOf(engine: Engine, sessionId: string, request: CancelRequest): Promise<void> {
  const list = (page: Page) => engine.store.listJobs({ sessionId, states: LIVE_STATES, ...page });
  for await (const live of pagesOf(list, ({ jobId }) => jobId))
    await Promise.all(live.map(({ jobId }) => cancelJob(engine, jobId, request)));
}

function endOf({ log }: Engine, row: JobRow, { cause, reason }: CancelRequest, events: readonly NewEvent[]) {
  const { attempt } = row;
  const previous = statusOf(row);
  const messages = new JobMessages(log, row, specOf(row));
  const ending = { attempt, durationMs: 0, checkpointId: previous.checkpointId };
  const cancelled = messages.cancelled({ cause, reason, forced: false }, ending);
  const status = { ...previous, cancelled: { cause, reason }, endId: cancelled.id };
  const set = { state: 'cancelled', status: JSON.stringify(status) } as const;
  return { jobs: [changeOf(row, set)], events: [...events, cancelled] };
}

export async function untilEnded({ bus, store }: Pick<Engine, 'bus' | 'store'>, jobId: string): Promise<void> {
  const { promise: ended, resolve: end } = deferred();
  const checkEnded = async (): Promise<void> => {
    const row = await store.readJob(jobId);
    if (row === undefined || isTerminal(row.state)) end();
  };
  const subscriber = {
    onEvent: ({ isTerminal: isLast }: StoredEvent): void => {
      if (isLast === true) end();
    },
    onTransient: (): void => {},
    onExternalCommit: (): void => {
      // The next event tries again.
      void checkEnded().catch(() => {});
    },
  };
  const row = await store.readJob(jobId);
  if (row === undefined) return;
  const unsubscribe = bus.subscribe(row, subscriber);
  try {
    await checkEnded();
    await ended;
  } finally {
    unsubscribe();
  }
}

/**
 * Waits for the end of a job, on whichever runtime it runs.
 *
 * @throws ArcpError the error of the job; `DATA_LOSS` if its outcome is no longer stored
 */
export async function outcomeOf(engine: Pick<Engine, 'bus' | 'store'>, jobId: string): Promise<unknown> {
  await untilEnded(engine, jobId);
  const row = await engine.store.readJob(jobId);
  const endId = row && statusOf(row).endId;
  const last = endId === undefined ? undefined : await engine.store.findEvent(endId);
  const outcome = last && outcomeIn(JSON.parse(last.body) as Envelope);
  if (outcome === undefined) throw new ArcpError('DATA_LOSS', 'The outcome of the job is no longer stored');
  if (outcome.state === 'completed') return outcome.result;
  throw outcome.error;
}

export async function* jobsOf(store: ArcpStore, query: Omit<JobQuery, 'after' | 'limit'>): AsyncGenerator<JobRow> {
  const list = (page: Page) => store.listJobs({ ...query, ...page });
  for await (const rows of pagesOf(list, ({ jobId }) => jobId)) yield* rows;
}
