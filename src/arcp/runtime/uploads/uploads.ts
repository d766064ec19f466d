/** The streams that this runtime receives from its clients, for jobs in any runtime. */
import { Queue } from '../../../async/queue.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { CommitResult, JobRow, NewEvent } from '../../store/store.js';
import type { EventLog } from '../events/log.js';
import { type IncomingOptions, IncomingStreams } from './incoming.js';
import {
  aborted,
  endWith,
  errorEvent,
  isOpen,
  openRecord,
  removeUploads,
  type StoredUpload,
  type UploadReport,
  untilDone,
  uploadLog,
} from './rows.js';

type StreamMessage = Envelope<'stream.open' | 'stream.chunk' | 'stream.close' | 'stream.error'>;

export interface Uploader {
  readonly backpressure: (streamId: string, isFull: boolean) => void;
  readonly refuse: (streamId: string, error: ArcpError) => void;
}

interface Upload extends StoredUpload {
  readonly uploader: Uploader;
  /** The sizes of the chunks that the job has not read, and their sum. */
  readonly unread: Queue<number>;
  unreadSize: number;
  /** The number of chunks that the job has read. */
  read: number;
  isFull: boolean;
  /** `true` once the client has ended it. The job may still refuse what it has received. */
  isEnded: boolean;
}

interface UploadsOptions extends IncomingOptions {
  readonly worker: string;
  readonly untilEnded: (jobId: string) => Promise<void>;
  /** Handles the reports of other runtimes so far. */
  readonly readReports: () => Promise<void>;
  readonly now: () => number;
}

const MAX_STREAMS = 1000;
/** The numbers of chunks and bytes that the job has not read at which the client is paused and resumed. */
const HIGH_WATER_MARK = 64;
const LOW_WATER_MARK = 32;
const HIGH_WATER_SIZE = 1024 * 1024;
/** Limits for a client that does not pause. */
const MAX_CHUNKS = 100 * HIGH_WATER_MARK;
const MAX_SIZE = 16 * HIGH_WATER_SIZE;

/** Streams that clients send. They end with their connection. */
export class Uploads {
  readonly #options: UploadsOptions;
  /** The streams whose jobs have not ended, by their ids in the store. */
  readonly #streams = new Map<string, Upload>();
  /** The open streams of each connection, by the ids of the client. */
  readonly #ofUploader = new Map<Uploader, Map<string, Upload>>();
  /** The jobs with streams, whose ends are awaited, and the times of their first ones. */
  readonly #jobs = new Map<string, number>();

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** The time of the oldest message that a running job may have to read; `Infinity` without one. */
  get oldestAt(): number {
    return Math.min(...this.#jobs.values());
  }

  /** Returns the streams for an attempt that runs here. */
  incoming(jobId: string): IncomingStreams {
    return new IncomingStreams(jobId, { ...this.#options, report: (worker, report) => this.#report(worker, report) });
  }

  /** Begins to receive the streams of a connection. */
  connect(uploader: Uploader): void {
    this.#ofUploader.set(uploader, new Map());
  }

  /**
   * Opens a stream.
   *
   * @param log the log of the connection
   * @throws ArcpError `ALREADY_EXISTS`, `RESOURCE_EXHAUSTED`; `FAILED_PRECONDITION` if the job has ended
   */
  async open(
    log: EventLog,
    { jobId }: Pick<JobRow, 'jobId'>,
    message: Envelope<'stream.open'>,
    uploader: Uploader,
  ): Promise<void> {
    const streamId = message.stream_id!;
    const streams = this.#ofUploader.get(uploader);
    if (streams === undefined) throw aborted('The connection has ended');
    if (streams.has(streamId)) throw new ArcpError('ALREADY_EXISTS', 'The stream is already open');
    if (this.#countOf(jobId) >= MAX_STREAMS)
      throw new ArcpError('RESOURCE_EXHAUSTED', `The job already receives ${MAX_STREAMS} streams, which is the limit`);
    const { worker } = this.#options;
    const id = newId('str');
    const state = { unread: new Queue<number>(), unreadSize: 0, read: 0, isFull: false, isEnded: false };
    const upload: Upload = { id, streamId, jobId, worker, uploader, ...state };
    this.#streams.set(id, upload);
    streams.set(streamId, upload);
    try {
      const events = [eventOf(uploadLog(jobId), { ...message, id, source: worker })];
      const result = await log.commit({ records: [openRecord(upload)], jobs: [{ jobId, set: {} }], events });
      if (result.outcome === 'fenced')
        throw new ArcpError('FAILED_PRECONDITION', `The job is ${result.found?.state ?? 'not stored any more'}`);
      this.#watch(jobId);
    } catch (error) {
      this.#forget(upload);
      throw error;
    }
  }

  /**
   * Stores a message; the next one does not wait for that. Those of unknown streams are ignored, since the runtime may have ended the stream
   * meanwhile.
   */
  take(log: EventLog, message: StreamMessage, uploader: Uploader): void {
    const upload = this.#ofUploader.get(uploader)?.get(message.stream_id!);
    if (upload === undefined) return;
    const event = eventOf(uploadLog(upload.id), { ...message, id: newId('msg') });
    if (message.type !== 'stream.chunk') {
      upload.isEnded = true;
      this.#ofUploader.get(uploader)!.delete(upload.streamId);
      void this.#store(upload, log.commit(endWith(upload, [event])));
      return;
    }
    upload.unread.push(event.body.length);
    upload.unreadSize += event.body.length;
    if (upload.unread.size > MAX_CHUNKS || upload.unreadSize > MAX_SIZE) {
      this.#refuse(upload, new ArcpError('BACKPRESSURE_OVERFLOW', 'The sender of the stream ignores backpressure'));
      return;
    }
    void this.#store(upload, log.commit({ records: [isOpen(upload)], events: [event] }));
    if (upload.isFull || (upload.unread.size < HIGH_WATER_MARK && upload.unreadSize < HIGH_WATER_SIZE)) return;
    upload.isFull = true;
    uploader.backpressure(upload.streamId, true);
  }

  /** Handles a report of the runtime that runs the job. */
  handle({ id, read = 0, error }: UploadReport): void {
    const upload = this.#streams.get(id);
    if (upload === undefined) return;
    if (error !== undefined) {
      this.#refuse(upload, ArcpError.fromBody(error));
      return;
    }
    // A later attempt reads the stream again, from its beginning.
    for (; upload.read < read && upload.unread.size > 0; upload.read++) upload.unreadSize -= upload.unread.take();
    if (
      !upload.isFull ||
      upload.isEnded ||
      upload.unread.size > LOW_WATER_MARK ||
      upload.unreadSize > HIGH_WATER_SIZE / 2
    )
      return;
    upload.isFull = false;
    upload.uploader.backpressure(upload.streamId, false);
  }

  /** Ends the streams of a connection. */
  async disconnect(uploader: Uploader): Promise<void> {
    const streams = [...(this.#ofUploader.get(uploader)?.values() ?? [])];
    this.#ofUploader.delete(uploader);
    const error = aborted('The client that sent the stream has disconnected');
    await Promise.all(streams.map((one) => this.#fail(one, error)));
  }

  /** Returns the number of open streams to a job. */
  #countOf(jobId: string): number {
    let count = 0;
    for (const upload of this.#streams.values()) if (upload.jobId === jobId) count++;
    return count;
  }

  #watch(jobId: string): void {
    const { untilEnded, readReports, now, onError } = this.#options;
    if (this.#jobs.has(jobId)) return;
    this.#jobs.set(jobId, now());
    const end = async (): Promise<void> => {
      await untilEnded(jobId);
      // A stream that the job has refused ends with that error.
      await readReports();
      await this.#endJob(jobId);
    };
    void untilDone(end, onError).then(() => this.#jobs.delete(jobId));
  }

  async #endJob(jobId: string): Promise<void> {
    const { log } = this.#options;
    const streams = [...this.#streams.values()].filter((one) => one.jobId === jobId);
    for (const upload of streams) {
      this.#forget(upload);
      if (!upload.isEnded) upload.uploader.refuse(upload.streamId, new ArcpError('CANCELLED', 'The job has ended'));
    }
    await Promise.all(streams.map((upload) => log.commit(endWith(upload, []))));
    await removeUploads(
      log.store,
      jobId,
      streams.map(({ id }) => id),
    );
  }

  /** Refuses further messages of a stream. */
  #refuse(upload: Upload, error: ArcpError): void {
    upload.uploader.refuse(upload.streamId, error);
    void this.#fail(upload, error);
  }

  /** Ends a stream for its reader. */
  #fail(upload: Upload, error: ArcpError): Promise<void> {
    const { log, onError } = this.#options;
    this.#forget(upload);
    const end = endWith(upload, [errorEvent(log, upload, error.toBody())]);
    return untilDone(() => log.commit(end), onError);
  }

  #forget({ id, streamId, uploader }: Upload): void {
    this.#streams.delete(id);
    this.#ofUploader.get(uploader)?.delete(streamId);
  }

  /** Waits for the storage of a message. If it fails, so does the stream. */
  async #store(upload: Upload, storing: Promise<CommitResult>): Promise<void> {
    let error: ArcpError;
    try {
      if ((await storing).outcome === 'done') return;
      error = aborted('The stream has ended');
    } catch (thrown) {
      error = asArcpError(thrown);
    }
    if (this.#streams.has(upload.id)) this.#refuse(upload, error);
  }

  #report(to: string, message: UploadReport): void | Promise<void> {
    const { worker, report } = this.#options;
    return to === worker ? this.handle(message) : report(to, message);
  }
}

function eventOf(log: string, message: StreamMessage): NewEvent {
  const { id, type, stream_id: streamId } = message;
  return { id, type, body: JSON.stringify(message), sessionId: log, streamId };
}
