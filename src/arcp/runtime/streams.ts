/** Streams of the work that is being done: those that it writes, and those that clients send to it. */
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { Content } from '../streams/content.js';
import { StreamInbox } from '../streams/reader.js';
import { type Pace, Pacer } from '../streams/writer.js';

interface Open {
  readonly sessionId: string;
  readonly principal: string;
  readonly pacer: Pacer;
  readonly cancel: (error: ArcpError) => Promise<void>;
}

export class StreamRegistry {
  readonly #now: () => number;
  readonly #open = new Map<string, Open>();
  readonly #paces = new Map<string, Pace>();

  constructor(now: () => number) {
    this.#now = now;
  }

  pacerFor(sessionId: string): Pacer {
    const pacer = new Pacer(this.#now);
    const pace = this.#paces.get(sessionId);
    if (pace !== undefined) pacer.set(sessionId, pace);
    return pacer;
  }

  add(streamId: string, open: Open): void {
    this.#open.set(streamId, open);
  }

  remove(streamId: string): void {
    this.#open.delete(streamId);
  }

  find(streamId: string, principal: string): Pick<Open, 'cancel'> | undefined {
    const open = this.#open.get(streamId);
    return open?.principal === principal ? open : undefined;
  }

  /** The slowest reader counts. */
  paceStream(streamId: string, by: { readonly id: string; readonly principal: string }, pace: Pace): void {
    const open = this.#open.get(streamId);
    if (open?.principal === by.principal) open.pacer.set(`${streamId} ${by.id}`, pace);
  }

  paceSession(sessionId: string, pace: Pace): void {
    this.#paces.set(sessionId, pace);
    for (const open of this.#open.values()) if (open.sessionId === sessionId) open.pacer.set(sessionId, pace);
  }

  forget(sessionId: string): void {
    this.#paces.delete(sessionId);
    for (const [streamId, { pacer }] of this.#open) pacer.unset([sessionId, `${streamId} ${sessionId}`]);
  }
}

type StreamMessage = Envelope<'stream.open' | 'stream.chunk' | 'stream.close' | 'stream.error'>;

export interface Uploader {
  readonly pressure: (streamId: string, isFull: boolean) => void;
  readonly refused: (streamId: string, error: ArcpError) => void;
}

interface Upload {
  readonly jobId: string;
  readonly uploader: Uploader;
}

const MOST = 1000;

/** Uploads end with their connection and the process; they are not stored. */
export class Uploads {
  readonly #inboxes = new Map<string, StreamInbox>();
  readonly #open = new Map<string, Upload>();

  read<K extends StreamKind>(jobId: string, which?: K | string): AsyncIterableIterator<Content<K>> {
    return this.#inbox(jobId).read<K>(which);
  }

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

  /** Messages of unknown streams are ignored: their end may have crossed them. */
  take(message: StreamMessage, uploader: Uploader): void {
    const streamId = message.stream_id!;
    const upload = this.#open.get(streamId);
    if (upload?.uploader !== uploader) return;
    this.#inboxes.get(upload.jobId)?.take(message);
    if (message.type !== 'stream.chunk') this.#open.delete(streamId);
  }

  lost(uploader: Uploader): void {
    const error = { code: 'ABORTED', message: 'Whoever sent the stream has gone', retryable: true };
    for (const [streamId, upload] of this.#open) {
      if (upload.uploader !== uploader) continue;
      this.#open.delete(streamId);
      this.#inboxes.get(upload.jobId)?.fail(streamId, error);
    }
  }

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
