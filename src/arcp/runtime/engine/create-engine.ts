/** Where something is kept, told and worked on. */
import { monotonicClock } from '../../../async/timers.js';
import type { ArcpStore } from '../../store/store.js';
import { EventLog, Hub } from '../events/log.js';
import { AnswerWaiters } from '../permissions/leases.js';
import { StreamRegistry, Uploads } from '../streams.js';
import type { Engine } from './engine.js';
import { beginJob, cancelChildren, cancelJob, outcomeOf } from './jobs.js';
import { Scheduler, type SchedulerOptions } from './scheduler.js';

type EngineOptions = Pick<SchedulerOptions, 'now' | 'find' | 'onError' | 'drained' | 'telemetry' | 'policy'> &
  Pick<SchedulerOptions, 'concurrency' | 'queues' | 'leaseMs' | 'heartbeatMs' | 'cancelGraceMs' | 'maxLosses'> & {
    readonly maxMessageBytes: number;
  };

export function createEngine(store: ArcpStore, { maxMessageBytes, ...options }: EngineOptions): Engine {
  const { now } = options;
  const clock = store.now ?? monotonicClock(now);
  const hub = new Hub();
  const log = new EventLog(store, hub, now, maxMessageBytes);
  const streams = new StreamRegistry(clock);
  const answers = new AnswerWaiters();
  const uploads = new Uploads();
  const scheduler: Scheduler = new Scheduler({
    ...options,
    now: clock,
    log,
    hub,
    streams,
    uploads,
    answers,
    madeRoom: () => scheduler.wake(),
    outcomeOf: (jobId) => outcomeOf({ hub, store }, jobId),
    startChild: (job) => beginJob(engine, job),
    expire: async (jobId) => {
      await cancelJob(engine, jobId, { cause: 'timeout', reason: 'It took too long' });
    },
    cancelChildren: (jobId) => cancelChildren(engine, jobId),
  });
  const engine: Engine = { store, clock, hub, log, scheduler, streams, uploads, answers };
  return engine;
}
