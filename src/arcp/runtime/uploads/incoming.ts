/** The streams that an attempt at a job receives. */
import type { Envelope } from '../../protocol/envelope.js';
import type { StreamKind } from '../../protocol/payloads/streaming.js';
import type { StoredEvent } from '../../store/store.js';
import type { Content } from '../../streams/content.js';
import { StreamInbox } from '../../streams/reader.js';
import { LogCursor } from '../events/cursor.js';
import type { EventBus, EventLog } from '../events/log.js';
import { removeUploads, type UploadReport, untilDone, uploadLog } from './rows.js';

/** The numbers of chunks and bytes after which the job reports its progress, so that the client is resumed in time. */
const REPORT_CHUNKS = 32;
const REPORT_SIZE = 256 * 1024;

export interface IncomingOptions {
  readonly log: EventLog;
  readonly bus: EventBus;
  readonly report: (worker: string, report: UploadReport) => void | Promise<void>;
  readonly onError: (error: unknown) => void;
}

interface Incoming {
  readonly worker: string;
  readonly cursor: LogCursor;
  /** The number of chunks that were given to the reader, and the size of the largest. */
  chunks: number;
  largest: number;
  reported: number;
}

/** Reads the streams from the store, once the job asks for them, and at its pace. */
export class IncomingStreams {
  readonly #jobId: string;
  readonly #options: IncomingOptions;
  readonly #streams = new Map<string, Incoming>();
  readonly #inbox = new StreamInbox({
    isUpload: true,
    onPressure: (id, isFull) => {
      const cursor = this.#streams.get(id)?.cursor;
      if (isFull) cursor?.pause();
      else cursor?.resume();
    },
    onTaken: (id) => this.#report(id),
    onRefused: (id, error) => {
      const stream = this.#streams.get(id);
      if (stream !== undefined) void this.#send(stream.worker, { id, error: error.toBody() });
    },
  });
  #openings: LogCursor | undefined;
  #isOver = false;

  constructor(jobId: string, options: IncomingOptions) {
    this.#jobId = jobId;
    this.#options = options;
  }

  read<K extends StreamKind>(which?: K | string): AsyncIterableIterator<Content<K>> {
    if (!this.#isOver) this.#openings ??= this.#follow(this.#jobId, (event) => this.#open(event));
    return this.#inbox.read<K>(which);
  }

  /** Ends all streams for this attempt. */
  end(): void {
    this.#isOver = true;
    this.#openings?.stop();
    for (const { cursor } of this.#streams.values()) cursor.stop();
    this.#inbox.end();
  }

  /** Removes the streams of the job, which has ended, if it has read any. */
  async remove(): Promise<void> {
    if (this.#openings !== undefined) await removeUploads(this.#options.log.store, this.#jobId);
  }

  #follow(log: string, take: (event: StoredEvent) => void): LogCursor {
    return new LogCursor({ ...this.#options, sessionId: uploadLog(log), take });
  }

  #open({ id, body }: StoredEvent): void {
    const message = JSON.parse(body) as Envelope<'stream.open'>;
    this.#inbox.take({ ...message, stream_id: id });
    const cursor = this.#follow(id, (event) => this.#take(id, event));
    this.#streams.set(id, { worker: message.source!, cursor, chunks: 0, largest: 0, reported: 0 });
  }

  #take(id: string, { type, body }: StoredEvent): void {
    const stream = this.#streams.get(id)!;
    if (type === 'stream.chunk') {
      stream.chunks++;
      stream.largest = Math.max(stream.largest, body.length);
    } else stream.cursor.stop();
    this.#inbox.take({ ...(JSON.parse(body) as Envelope), stream_id: id });
    this.#report(id);
  }

  #report(id: string): void {
    const stream = this.#streams.get(id)!;
    const read = stream.chunks - this.#inbox.waiting(id);
    const unreported = read - stream.reported;
    if (unreported < REPORT_CHUNKS && unreported * stream.largest < REPORT_SIZE) return;
    stream.reported = read;
    void this.#send(stream.worker, { id, read });
  }

  /** Sends a report, for which the client may wait. */
  #send(worker: string, message: UploadReport): Promise<void> {
    const { report, onError } = this.#options;
    return untilDone(async () => this.#isOver || report(worker, message), onError);
  }
}
