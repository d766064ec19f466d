/** How jobs begin, are cancelled and awaited, whoever works on them. */
import { deferred } from '../../../async/listeners.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import { outcomeIn } from '../../protocol/outcome.js';
import {
  type ArcpStore,
  type Commit,
  type CommitResult,
  type JobQuery,
  type JobRow,
  LIVE_STATES,
  type NewEvent,
  type StoredEvent,
  type StoredRecord,
} from '../../store/store.js';
import { childrenOf } from '../context/delegation.js';
import type { CancelRequest, NewJob } from '../job/attempt.js';
import { JobMessages } from '../job/messages.js';
import { changeOf, isIdle, isTerminal, NEW_STATUS, specOf, statusOf } from '../job/spec.js';
import { type Page, pagesOf } from '../pages.js';
import type { Engine } from './engine.js';
import { CANCELS } from './scheduler.js';

export async function beginJob(engine: Engine, job: NewJob): Promise<CommitResult> {
  const { scheduler, log, store, now } = engine;
  const { options, spec, sessionId, principal } = job;
  const queue = options.queue ?? 'default';
  const createdAt = now();
  const begins = scheduler.reserve(queue);
  let begun: JobRow | undefined;
  try {
    const position = begins ? undefined : await store.countQueued([queue]);
    const row: JobRow = {
      jobId: newId('job'),
      sessionId,
      principal,
      queue,
      priority: options.priority ?? 0,
      dueAt: createdAt,
      createdAt,
      endedAt: null,
      ...(begins
        ? { state: 'running', attempt: 1, leaseOwner: scheduler.worker, leaseExpiresAt: scheduler.leaseExpiresAt() }
        : { state: 'queued', attempt: 0, leaseOwner: null, leaseExpiresAt: null }),
      spec: JSON.stringify(spec),
      status: JSON.stringify(job.status ?? NEW_STATUS),
    };
    const messages = new JobMessages(log, row, spec);
    const told = messages.accepted(begins ? 'accepted' : 'queued', position);
    const { records, events = [], jobs = [] } = job.with({ jobId: row.jobId, told });
    const restored_from = job.status?.checkpointId;
    const started = begins ? messages.started(1, { worker: scheduler.worker, restored_from }) : [];
    const result = await log.commit({
      records,
      newJobs: [row],
      jobs,
      events: [...events, told, ...started],
      ...(begins ? {} : { maxQueued: job.maxQueued }),
    });
    if (result.outcome === 'full')
      throw new ArcpError('RESOURCE_EXHAUSTED', 'Too many jobs are waiting', { details: { queued: result.queued } });
    if (result.outcome === 'done') {
      begun = row;
      scheduler.deadlines.watch(row, spec);
    }
    return result;
  } finally {
    if (!begins) scheduler.wake();
    else if (begun === undefined) scheduler.release();
    else scheduler.begin(begun, spec);
  }
}

const TRIES = 10;

interface CancelOptions extends Pick<Commit, 'records' | 'events'> {
  readonly check?: ((row: JobRow) => void) | undefined;
}

type Cancelled =
  | { readonly outcome: 'asked' }
  | { readonly outcome: 'ended'; readonly row: JobRow }
  | { readonly outcome: 'conflict'; readonly found: StoredRecord | undefined };

/** Cancels a job. A running job is asked to end, even after a restart; an idle one ends. @throws ArcpError `NOT_FOUND`, `UNAVAILABLE` */
export async function cancelJob(
  engine: Engine,
  jobId: string,
  request: CancelRequest,
  { records = [], events = [], check }: CancelOptions = {},
): Promise<Cancelled> {
  const { log, store, scheduler } = engine;
  for (let tries = 0; tries < TRIES; tries++) {
    const row = await store.readJob(jobId);
    if (row === undefined) throw new ArcpError('NOT_FOUND', 'There is no such job');
    check?.(row);
    if (isTerminal(row.state)) return { outcome: 'ended', row };
    const live = scheduler.find(jobId);
    const asked = { scope: CANCELS, key: jobId, value: JSON.stringify(request), owner: jobId };
    const endsHere = live === undefined && isIdle(row.state);
    const commit = endsHere
      ? { records, ...endOf(engine, row, request, events) }
      : { records: [...records, asked], events, jobs: [{ jobId, states: LIVE_STATES, set: {} }] };
    const result = await log.commit(commit);
    if (result.outcome === 'conflict') return { outcome: 'conflict', found: result.found };
    if (result.outcome === 'fenced') continue;
    live?.cancel(request);
    if (endsHere) await cancelChildren(engine, jobId);
    return { outcome: 'asked' };
  }
  throw new ArcpError('ABORTED', 'The job does not keep still');
}

export async function cancelChildren(engine: Engine, jobId: string): Promise<void> {
  const request = { cause: 'runtime', reason: 'The job that began it was cancelled' } as const;
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

function endOf({ log, now }: Engine, row: JobRow, { cause, reason }: CancelRequest, events: readonly NewEvent[]) {
  const { attempt } = row;
  const former = statusOf(row);
  const messages = new JobMessages(log, row, specOf(row));
  const ending = { attempt, durationMs: 0, checkpointId: former.checkpointId };
  const told = messages.cancelled({ cause, reason, forced: false }, ending);
  const status = { ...former, cancelled: { cause, reason }, endId: told.id };
  const set = {
    state: 'cancelled',
    endedAt: now(),
    leaseOwner: null,
    leaseExpiresAt: null,
    status: JSON.stringify(status),
  } as const;
  return { jobs: [changeOf(row, set)], events: [...events, told] };
}

export async function untilEnded({ hub, store }: Pick<Engine, 'hub' | 'store'>, jobId: string): Promise<void> {
  const { promise: ended, resolve: end } = deferred();
  const look = async (): Promise<void> => {
    const row = await store.readJob(jobId);
    if (row === undefined || isTerminal(row.state)) end();
  };
  const subscriber = {
    onEvent: ({ isTerminal: isLast }: StoredEvent): void => {
      if (isLast === true) end();
    },
    onTransient: (): void => {},
    onExternalCommit: (): void => {
      // Retried at the next event.
      void look().catch(() => {});
    },
  };
  hub.jobs.add(jobId, subscriber);
  try {
    await look();
    await ended;
  } finally {
    hub.jobs.remove(jobId, subscriber);
  }
}

/** Waits for the end of a job, whichever runtime works on it. @throws ArcpError the error of the job; `DATA_LOSS` if it is not stored */
export async function outcomeOf(engine: Pick<Engine, 'hub' | 'store'>, jobId: string): Promise<unknown> {
  await untilEnded(engine, jobId);
  const row = await engine.store.readJob(jobId);
  const endId = row && statusOf(row).endId;
  const last = endId === undefined ? undefined : await engine.store.findEvent(endId);
  const outcome = last && outcomeIn(JSON.parse(last.body) as Envelope);
  if (outcome === undefined) throw new ArcpError('DATA_LOSS', 'It is not known any more what became of the job');
  if (outcome.state === 'completed') return outcome.result;
  throw outcome.error;
}

export async function* jobsOf(store: ArcpStore, query: Omit<JobQuery, 'after' | 'limit'>): AsyncGenerator<JobRow> {
  const list = (page: Page) => store.listJobs({ ...query, ...page });
  for await (const rows of pagesOf(list, ({ jobId }) => jobId)) yield* rows;
}
