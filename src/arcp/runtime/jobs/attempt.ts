/** One attempt at a job, as what its handler is given sees it. */

import type { StreamKind } from '../../protocol/payloads/stream.js';
import type { CommitResult, JobRow, NewEvent, RecordChange } from '../../store/store.js';
import type { Content } from '../../streams/content.js';
import type { StreamOptions, StreamWriter } from '../../streams/contract.js';
import type { Work } from '../contract.js';
import type { EventLog } from '../log.js';
import type { Permissions } from '../permissions/request.js';
import type { Telemetry } from '../telemetry/contract.js';
import type { JobOutbox } from './outbox.js';
import type { JobSpec, JobStatus } from './spec.js';
import type { Voice } from './voice.js';
import type { NewJob, PutBack } from './wishes.js';

export interface Attempt {
  readonly row: JobRow;
  readonly spec: JobSpec;
  /** What is being done. */
  readonly work: Work;
  readonly voice: Voice;
  readonly log: EventLog;
  readonly outbox: JobOutbox;
  readonly signal: AbortSignal;
  /** Stands before the names of steps: calls within the job have steps of their own. */
  readonly stepPrefix: string;
  /** Runs something once: whoever asks for the same key while it runs gets the same promise. */
  readonly once: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  /** Whether it is a call within the job. */
  readonly isCall: boolean;
  readonly find: (kind: Work['kind'], name: string) => Work | undefined;
  readonly permissions: Permissions;
  readonly telemetry: Telemetry | undefined;
  /** What telemetry calls this attempt. */
  readonly toldAs: string | undefined;
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
  /** Begins other work. */
  readonly startChild: (job: NewJob) => Promise<CommitResult>;
  /** Waits for the end of another job. @throws ArcpError what it failed with */
  readonly outcomeOf: (jobId: string) => Promise<unknown>;
  /** Says where it stands, when a client asks for a checkpoint. */
  readonly onCheckpoint: (snapshot: () => unknown) => void;
  /** Ends this attempt, for another one. */
  readonly leave: (putBack: PutBack) => void;
  /** A stream that the client sends. */
  readonly readUpload: <K extends StreamKind>(which?: K | string) => AsyncIterableIterator<Content<K>>;
  /** @throws ArcpError `UNIMPLEMENTED` where the client reads no such streams */
  readonly openStream: <K extends StreamKind>(options: StreamOptions<K>) => StreamWriter<K>;
}

/** What has set work going again. */
export interface Continued {
  readonly causedBy?: string | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
}

/** Why work waits. */
export interface Pause<T> {
  readonly reason: string;
  /** What is committed as it begins to. */
  readonly events?: readonly NewEvent[] | undefined;
  readonly records?: readonly RecordChange[] | undefined;
  /** What has set it going again: the message that did, and what else is told of it. */
  readonly after?: ((result: T) => Continued) | undefined;
}
