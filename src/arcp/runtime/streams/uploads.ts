/** Streams that clients send to work that is being done (spec 003, "Streams": "Either side MAY send backpressure"). */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import type { StreamKind } from '../../protocol/payloads/stream.js';
import type { Content } from '../../streams/content.js';
import { StreamInbox } from '../../streams/inbox.js';

type StreamMessage = Envelope<'stream.open' | 'stream.chunk' | 'stream.close' | 'stream.error'>;

/** Who sends a stream. */
export interface Uploader {
  /** Asks for a pause, or for its end. */
  readonly pressure: (streamId: string, isFull: boolean) => void;
  /** The stream is not taken, or not any more. */
  readonly refused: (streamId: string, error: ArcpError) => void;
}

interface Upload {
  readonly jobId: string;
  readonly uploader: Uploader;
}

/** Most streams that one job is sent at once. */
const MOST = 1000;

/** They live with the connection that sends them and with the process: nothing of them is kept. */
export class Uploads {
  readonly #inboxes = new Map<string, StreamInbox>();
  readonly #open = new Map<string, Upload>();

  /** Reads one of a job. */
  read<K extends StreamKind>(jobId: string, which?: K | string): AsyncIterableIterator<Content<K>> {
    return this.#inbox(jobId).read<K>(which);
  }

  /** A stream is opened for a job that the client may send to. */
  open(jobId: string, message: Envelope<'stream.open'>, uploader: Uploader): void {
    const streamId = message.stream_id!;
    const ofJob = [...this.#open.values()].filter((one) => one.jobId === jobId).length;
    if (this.#open.has(streamId))
      uploader.refused(streamId, new ArcpError('ALREADY_EXISTS', 'The stream is open already'));
    else if (ofJob >= MOST)
      uploader.refused(streamId, new ArcpError('RESOURCE_EXHAUSTED', `The job is sent ${MOST} streams already`));
    else {
      this.#open.set(streamId, { jobId, uploader });
      this.#inbox(jobId).take(message);
    }
  }

  /** More of a stream. What belongs to none is left out: its end may have crossed it. */
  take(message: StreamMessage, uploader: Uploader): void {
    const streamId = message.stream_id!;
    const upload = this.#open.get(streamId);
    if (upload?.uploader !== uploader) return;
    this.#inboxes.get(upload.jobId)?.take(message);
    if (message.type !== 'stream.chunk') this.#open.delete(streamId);
  }

  /** Whoever has sent them is not there any more. */
  lost(uploader: Uploader): void {
    const error = { code: 'ABORTED', message: 'Whoever sent the stream has gone', retryable: true };
    for (const [streamId, upload] of this.#open) {
      if (upload.uploader !== uploader) continue;
      this.#open.delete(streamId);
      this.#inboxes.get(upload.jobId)?.fail(streamId, error);
    }
  }

  /** The work has ended, or begins again: nobody reads what was sent to it. */
  ended(jobId: string): void {
    this.#inboxes.get(jobId)?.end();
    this.#inboxes.delete(jobId);
    for (const [streamId, upload] of this.#open) {
      if (upload.jobId !== jobId) continue;
      this.#open.delete(streamId);
      upload.uploader.refused(streamId, new ArcpError('CANCELLED', 'The work has ended'));
    }
  }

  #inbox(jobId: string): StreamInbox {
    const inbox =
      this.#inboxes.get(jobId) ??
      new StreamInbox({
        isUpload: true,
        pressure: (streamId, isFull) => this.#open.get(streamId)?.uploader.pressure(streamId, isFull),
        refused: (streamId, error) => {
          this.#open.get(streamId)?.uploader.refused(streamId, error);
          this.#open.delete(streamId);
        },
      });
    this.#inboxes.set(jobId, inbox);
    return inbox;
  }
}
