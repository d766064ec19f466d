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
  /** Its reader wants no more of it. */
  readonly cancel: (error: ArcpError) => Promise<void>;
}

export class StreamRegistry {
  readonly #now: () => number;
  readonly #open = new Map<string, Open>();
  /** Of whole sessions. */
  readonly #paces = new Map<string, Pace>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A stream that is to be written: it goes as fast as its session does. */
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

  /** A stream of theirs that is being written here. */
  find(streamId: string, principal: string): Pick<Open, 'cancel'> | undefined {
    const open = this.#open.get(streamId);
    return open?.principal === principal ? open : undefined;
  }

  /** The pace of one stream. Whoever reads along sets it, too, and the slowest counts. */
  paceStream(streamId: string, by: { readonly id: string; readonly principal: string }, pace: Pace): void {
    const open = this.#open.get(streamId);
    if (open?.principal === by.principal) open.pacer.set(`${streamId} ${by.id}`, pace);
  }

  /** The pace of all streams of a session, also of those that will be. */
  paceSession(sessionId: string, pace: Pace): void {
    this.#paces.set(sessionId, pace);
    for (const open of this.#open.values()) if (open.sessionId === sessionId) open.pacer.set(sessionId, pace);
  }

  /** Whoever has set the pace of a session is not there any more. */
  forget(sessionId: string): void {
    this.#paces.delete(sessionId);
    for (const [streamId, { pacer }] of this.#open) pacer.unset([sessionId, `${streamId} ${sessionId}`]);
  }
}

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
