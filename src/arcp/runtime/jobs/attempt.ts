/** One attempt at a job, as what its handler is given sees it. */

import type { StreamKind } from '../../protocol/payloads/stream.js';
import type { JobRow, NewEvent, RecordChange } from '../../store/store.js';
import type { Work } from '../contract.js';
import type { EventLog } from '../log.js';
import type { Permissions } from '../permissions/ask.js';
import type { StreamOptions, StreamWriter } from '../streams/contract.js';
import type { JobOutbox } from './outbox.js';
import type { JobSpec, JobStatus } from './spec.js';
import type { Voice } from './voice.js';

export interface Attempt {
  readonly row: JobRow;
  readonly spec: JobSpec;
  /** What is being done. */
  readonly work: Work;
  readonly voice: Voice;
  readonly log: EventLog;
  readonly outbox: JobOutbox;
  readonly signal: AbortSignal;
  readonly permissions: Permissions;
  readonly status: JobStatus;
  /** @returns the status as text, to be committed */
  readonly changeStatus: (change: Partial<JobStatus>) => string;
  readonly noteProgress: () => void;
  /**
   * Waits for something that is done elsewhere; others may work in its place meanwhile.
   *
   * @throws what the signal is aborted with
   */
  readonly wait: <T>(pause: Pause<T>, until: () => Promise<T>) => Promise<T>;
  /** @throws ArcpError `UNIMPLEMENTED` where the client reads no such streams */
  readonly openStream: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
}

/** Why work waits. */
export interface Pause<T> {
  readonly reason: string;
  /** What is committed as it begins to. */
  readonly events?: readonly NewEvent[] | undefined;
  readonly records?: readonly RecordChange[] | undefined;
  /** The message that has set it going again. */
  readonly causedBy?: ((result: T) => string | undefined) | undefined;
}
