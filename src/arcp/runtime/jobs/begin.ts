/** How work becomes a job: it is kept, told of, and begun at once where there is room. */
import { ArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { CommitResult, JobRow } from '../../store/store.js';
import type { Engine } from '../engine-type.js';
import { NEW_STATUS } from './spec.js';
import { Voice } from './voice.js';
import type { NewJob } from './wishes.js';

/** @throws ArcpError `RESOURCE_EXHAUSTED`, `UNAVAILABLE` */
export async function beginJob(engine: Engine, job: NewJob): Promise<CommitResult> {
  const { scheduler, log, store } = engine;
  const { options, spec, now, sessionId, principal } = job;
  const queue = options.queue ?? 'default';
  const createdAt = now();
  const begins = scheduler.reserve(queue);
  let begun: JobRow | undefined;
  try {
    const position = begins ? undefined : await store.countQueued([queue]);
    const row: JobRow = {
      ...{ jobId: newId('job'), sessionId, principal, queue, priority: options.priority ?? 0 },
      ...{ runAfter: createdAt, createdAt, endedAt: null },
      ...(begins
        ? { state: 'running', attempt: 1, leaseOwner: scheduler.worker, leaseUntil: scheduler.leaseUntil() }
        : { state: 'queued', attempt: 0, leaseOwner: null, leaseUntil: null }),
      ...{ spec: JSON.stringify(spec), status: JSON.stringify(job.status ?? NEW_STATUS) },
    };
    const voice = new Voice(log, row, spec);
    const told = voice.accepted(begins ? 'accepted' : 'queued', position);
    const { records, events = [], jobs = [] } = job.with({ jobId: row.jobId, voice, told });
    const restored = job.status?.checkpointId;
    const from = restored === undefined ? {} : { restored_from: restored };
    const started = begins ? voice.started(1, { worker: scheduler.worker, ...from }) : [];
    const result = await log.commit({
      ...{ records, newJobs: [row], jobs, events: [...events, told, ...started] },
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
