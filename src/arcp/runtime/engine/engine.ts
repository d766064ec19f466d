/** Where jobs are kept, told of and worked on. */
import type { ArcpStore } from '../../store/store.js';
import type { EventLog, Hub } from '../events/log.js';
import type { AnswerWaiters } from '../permissions/leases.js';
import type { StreamRegistry, Uploads } from '../streams.js';
import type { Scheduler } from './scheduler.js';

export interface Engine {
  readonly store: ArcpStore;
  /** The store's clock, in milliseconds since 1970, which jumps of the wall clock do not move. Stored times go by it. */
  readonly now: () => number;
  readonly log: EventLog;
  readonly hub: Hub;
  readonly scheduler: Scheduler;
  readonly streams: StreamRegistry;
  readonly uploads: Uploads;
  readonly answers: AnswerWaiters;
}
