/** The end of a job that somebody does not want any more, whether it is worked on or waits. */
import { ArcpError } from '../../protocol/errors.js';
import { type JobRow, LIVE_STATES, type NewEvent, type RecordChange, type StoredRecord } from '../../store/store.js';
import { childrenOf } from '../children/child.js';
import type { Engine } from '../engine-type.js';
import { IDLE_STATES, isIdle, isTerminal } from './machine.js';
import { CANCELS } from './scheduler.js';
import { specOf, statusOf } from './spec.js';
import { Voice } from './voice.js';
import type { CancelRequest } from './wishes.js';

/** How often it is tried again with a job that goes from one state to the next meanwhile. */
const TRIES = 10;

export interface CancelOptions {
  readonly now: () => number;
  /** Committed with it. */
  readonly records?: readonly RecordChange[] | undefined;
  readonly events?: readonly NewEvent[] | undefined;
  /** Throws where it is not to be cancelled by who asks. */
  readonly check?: ((row: JobRow) => void) | undefined;
}

export type Cancelled =
  | { readonly outcome: 'asked' }
  | { readonly outcome: 'ended'; readonly row: JobRow }
  /** One of the records is not as expected. */
  | { readonly outcome: 'conflict'; readonly found: StoredRecord | undefined };

/**
 * Cancels a job. One that is worked on is asked to end, also after a restart; one that waits has ended.
 *
 * @throws ArcpError `NOT_FOUND`, `UNAVAILABLE`
 */
export async function cancelJob(
  engine: Engine,
  jobId: string,
  request: CancelRequest,
  options: CancelOptions,
): Promise<Cancelled> {
  const { log, store, scheduler } = engine;
  const { records = [], events = [], check, now } = options;
  for (let tries = 0; tries < TRIES; tries++) {
    const row = await store.readJob(jobId);
    if (row === undefined) throw new ArcpError('NOT_FOUND', 'There is no such job');
    check?.(row);
    if (isTerminal(row.state)) return { outcome: 'ended', row };
    const live = scheduler.find(jobId);
    const asked = { scope: CANCELS, key: jobId, value: JSON.stringify(request), owner: jobId };
    const endsHere = live === undefined && isIdle(row.state);
    const commit = endsHere
      ? { records, ...endOf(engine, row, request, events, now) }
      : { records: [...records, asked], events, jobs: [{ jobId, states: LIVE_STATES, set: {} }] };
    const result = await log.commit(commit);
    if (result.outcome === 'conflict') return { outcome: 'conflict', found: result.found };
    if (result.outcome === 'fenced') continue;
    live?.cancel(request);
    if (endsHere) await cancelChildren(engine, jobId, now);
    return { outcome: 'asked' };
  }
  throw new ArcpError('ABORTED', 'The job does not keep still');
}

/** Jobs that are cancelled at once: their commits go together, and others have their turn between two portions. */
const AT_ONCE = 100;

/** Cancels what a job has begun and that has not ended. */
export async function cancelChildren(engine: Engine, jobId: string, now: () => number): Promise<void> {
  const request = { cause: 'runtime', reason: 'The job that began it was cancelled' } as const;
  for (let after: string | undefined; ; ) {
    const children = await engine.store.listRecords(childrenOf(jobId), { after, limit: AT_ONCE });
    await Promise.all(children.map(({ value }) => cancelJob(engine, value, request, { now })));
    if (children.length < AT_ONCE) return;
    after = children.at(-1)!.key;
  }
}

/**
 * Cancels all jobs that a session has begun and that have not ended.
 *
 * @throws ArcpError `UNAVAILABLE`
 */
export async function cancelJobsOf(engine: Engine, sessionId: string, request: CancelRequest): Promise<void> {
  for (let after: string | undefined; ; ) {
    const live = await engine.store.listJobs({ sessionId, states: LIVE_STATES, after, limit: AT_ONCE });
    await Promise.all(live.map(({ jobId }) => cancelJob(engine, jobId, request, { now: engine.clock })));
    if (live.length < AT_ONCE) return;
    after = live.at(-1)!.jobId;
  }
}

function endOf(
  { log }: Engine,
  row: JobRow,
  { cause, reason }: CancelRequest,
  events: readonly NewEvent[],
  now: () => number,
) {
  const { jobId, attempt } = row;
  const former = statusOf(row);
  const voice = new Voice(log, row, specOf(row));
  const ending = { attempt, durationMs: 0, checkpointId: former.checkpointId };
  const told = voice.cancelled({ cause, reason, isForced: false }, ending);
  const status = { ...former, cancelled: { cause, reason }, endId: told.id };
  const set = {
    state: 'cancelled',
    endedAt: now(),
    leaseOwner: null,
    leaseUntil: null,
    status: JSON.stringify(status),
  } as const;
  return { jobs: [{ jobId, attempt, states: IDLE_STATES, status: row.status, set }], events: [...events, told] };
}
