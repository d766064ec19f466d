/**
 * Streams that clients send to jobs ("uploads"), as they are stored. A job receives them in whichever runtime it runs, and each attempt from their
 * beginning. A log of the job has the messages that open its streams; the other messages of each stream are a log of their own. Neither is part of
 * the messages of a session or job. A record exists until the stream has ended, and names the runtime that receives it.
 */
import { ArcpError, type ErrorBody } from '../../protocol/errors.js';
import { type ArcpStore, type NewEvent, type RecordChange, StoreError } from '../../store/store.js';
import type { EventLog } from '../events/log.js';
import { traceBelow } from '../events/message.js';
import { type Page, pagesOf } from '../pages.js';

const LOG = 'upload:';
const UPLOADS = 'upload';

export interface StoredUpload {
  /** The id in the store; those of the clients are not unique. */
  readonly id: string;
  readonly streamId: string;
  readonly jobId: string;
  /** The worker of the runtime that receives it. */
  readonly worker: string;
}

/** A report of the runtime that runs the job to the one that receives the stream. */
export interface UploadReport {
  readonly id: string;
  /** The number of chunks that the job has read. */
  readonly read?: number | undefined;
  /** Set if the job cannot read more. */
  readonly error?: ErrorBody | undefined;
}

/** Returns the log of a stream, or the log of the openings of streams to a job. */
export const uploadLog = (idOrJobId: string): string => `${LOG}${idOrJobId}`;

/** Returns whether the events of a session are messages of uploads, which no one else receives. */
export const isUploadLog = (sessionId: string): boolean => sessionId.startsWith(LOG);

/** Returns the record of a new stream. The job owns it, so that it is removed at the latest with the job. */
export function openRecord(upload: StoredUpload): RecordChange {
  const { id, streamId, jobId, worker } = upload;
  const value = JSON.stringify({ id, streamId, jobId, worker } satisfies StoredUpload);
  return { scope: UPLOADS, key: id, value, expect: 0, owner: jobId };
}

/** Returns the change that conflicts once the stream has ended. */
export function isOpen({ id }: StoredUpload): RecordChange {
  return { scope: UPLOADS, key: id, expect: 1 };
}

/** Returns the changes that end a stream. They conflict if it has ended before. */
export function endWith(upload: StoredUpload, events: readonly NewEvent[]) {
  return { records: [{ ...isOpen(upload), value: null }], events };
}

/** Returns the event with which a stream fails for its reader, although the client did not end it. */
export function errorEvent(log: EventLog, { id, streamId }: StoredUpload, error: ErrorBody): NewEvent {
  const draft = { sessionId: uploadLog(id), streamId, payload: { ...error }, trace: traceBelow({}) };
  // The stream is not part of the trace.
  return { ...log.event({ type: 'stream.error', ...draft }), traceId: undefined };
}

export const aborted = (message: string): ArcpError => new ArcpError('ABORTED', message, { retryable: true });

/** Ends the streams whose runtimes have ended. */
export async function endLostUploads(log: EventLog, isPresent: (worker: string) => Promise<boolean>): Promise<void> {
  const list = (page: Page) => log.store.listRecords(UPLOADS, page);
  const present = new Map<string, boolean>();
  for await (const records of pagesOf(list, ({ key }) => key))
    for (const { value } of records) {
      const upload = JSON.parse(value) as StoredUpload;
      const { worker } = upload;
      if (!present.has(worker)) present.set(worker, await isPresent(worker));
      if (present.get(worker) === true) continue;
      const error = aborted('The runtime that received the stream was lost').toBody();
      await log.commit(endWith(upload, [errorEvent(log, upload, error)]));
    }
}

const PAGE = 256;

/** Removes the logs of an ended job. @param ids further streams of it, whose openings may have been removed */
export async function removeUploads(store: ArcpStore, jobId: string, ids: readonly string[] = []): Promise<void> {
  const sessionId = uploadLog(jobId);
  const all = new Set(ids);
  for (let last = 0; ; ) {
    const openings = await store.readEvents({ sessionId, after: last, limit: PAGE });
    for (const { id, sequence } of openings) {
      all.add(id);
      last = sequence;
    }
    if (openings.length < PAGE) break;
  }
  for (const id of all) await store.trim({ sessionId: uploadLog(id) });
  await store.trim({ sessionId });
}

const RETRY_MS = 500;

/** Repeats a change for which others wait until it succeeds, or cannot. */
export async function untilDone(change: () => Promise<unknown>, onError: (error: unknown) => void): Promise<void> {
  for (let isDone = false; !isDone; )
    try {
      await change();
      isDone = true;
    } catch (error) {
      const reason = error instanceof StoreError ? error.reason : (error as ArcpError).details?.['reason'];
      if (reason === 'closed') return;
      onError(error);
      if (reason === 'failed') return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
}
