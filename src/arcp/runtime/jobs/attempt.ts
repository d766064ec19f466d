/** One attempt at a job, as what its handler is given sees it. */

import type { StreamKind } from '../../protocol/payloads/stream.js';
import type { JobRow } from '../../store/store.js';
import type { EventLog } from '../log.js';
import type { StreamOptions, StreamWriter } from '../streams/contract.js';
import type { JobOutbox } from './outbox.js';
import type { JobSpec, JobStatus } from './spec.js';
import type { Voice } from './voice.js';

export interface Attempt {
  readonly row: JobRow;
  readonly spec: JobSpec;
  readonly voice: Voice;
  readonly log: EventLog;
  readonly outbox: JobOutbox;
  readonly signal: AbortSignal;
  readonly status: JobStatus;
  /** @returns the status as text, to be committed */
  readonly changeStatus: (change: Partial<JobStatus>) => string;
  readonly noteProgress: () => void;
  /** @throws ArcpError `UNIMPLEMENTED` where the client reads no such streams */
  readonly openStream: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
}
