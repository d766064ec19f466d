/** The store of jobs, their event log and event bus, and their scheduler. */
import type { ArcpStore } from '../../store/store.js';
import type { EventBus, EventLog } from '../events/log.js';
import type { Mailbox } from '../mail/mailbox.js';
import type { AnswerWaiters } from '../permissions/leases.js';
import type { StreamRegistry } from '../streams.js';
import type { Uploads } from '../uploads/uploads.js';
import type { Scheduler } from './scheduler.js';

export interface Engine {
  readonly store: ArcpStore;
  /** The store's clock in milliseconds since 1970, which stored times use. Jumps of the wall clock do not affect it. */
  readonly now: () => number;
  readonly log: EventLog;
  readonly bus: EventBus;
  readonly scheduler: Scheduler;
  readonly mailbox: Mailbox;
  readonly streams: StreamRegistry;
  readonly uploads: Uploads;
  readonly answers: AnswerWaiters;
}
