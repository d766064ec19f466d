/** Streams of running jobs: those that jobs write, and those that clients send to them. */
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import type { StreamKind } from '../protocol/payloads/streaming.js';
import type { Content } from '../streams/content.js';
import { StreamInbox } from '../streams/reader.js';
import { type RateLimit, RateLimiter } from '../streams/writer.js';

interface OpenStream {
  readonly sessionId: string;
  readonly principal: string;
  readonly rateLimiter: RateLimiter;
  readonly cancel: (error: ArcpError) => Promise<void>;
}

export class StreamRegistry {
  readonly #now: () => number;
  readonly #open = new Map<string, OpenStream>();
  readonly #limits = new Map<string, RateLimit>();
  readonly #remoteLimit: (sessionId: string) => Promise<RateLimit | undefined>;

  /** @param remoteLimit returns the rate limit of a session that another runtime serves */
  constructor(now: () => number, remoteLimit: (sessionId: string) => Promise<RateLimit | undefined>) {
    this.#now = now;
    this.#remoteLimit = remoteLimit;
  }

  rateLimiterFor(sessionId: string): RateLimiter {
    const rateLimiter = new RateLimiter(this.#now);
    const limit = this.#limits.get(sessionId);
    if (limit !== undefined) rateLimiter.set(sessionId, limit);
    else
      void this.#remoteLimit(sessionId).then(
        (remote) => remote && rateLimiter.set(sessionId, remote),
        // The next message of the client sets it.
        () => undefined,
      );
    return rateLimiter;
  }

  add(streamId: string, open: OpenStream): void {
    this.#open.set(streamId, open);
  }

  remove(streamId: string): void {
    this.#open.delete(streamId);
  }

  find(streamId: string, principal: string): Pick<OpenStream, 'cancel'> | undefined {
    const open = this.#open.get(streamId);
    return open?.principal === principal ? open : undefined;
  }

  /** Sets the rate limit of one reader of a stream; the slowest reader determines the rate. */
  limitStream(streamId: string, by: { readonly id: string; readonly principal: string }, limit: RateLimit): void {
    const open = this.#open.get(streamId);
    if (open?.principal === by.principal) open.rateLimiter.set(`${streamId} ${by.id}`, limit);
  }

  limitSession(sessionId: string, limit: RateLimit): void {
    this.#limits.set(sessionId, limit);
    this.limitOpen(sessionId, limit);
  }

  /** Sets the rate limit of the open streams of a session. */
  limitOpen(sessionId: string, limit: RateLimit): void {
    for (const open of this.#open.values()) if (open.sessionId === sessionId) open.rateLimiter.set(sessionId, limit);
  }

  forget(sessionId: string): void {
    this.#limits.delete(sessionId);
    for (const [streamId, { rateLimiter }] of this.#open) rateLimiter.unset([sessionId, `${streamId} ${sessionId}`]);
  }
}

type StreamMessage = Envelope<'stream.open' | 'stream.chunk' | 'stream.close' | 'stream.error'>;

export interface Uploader {
  readonly backpressure: (streamId: string, isFull: boolean) => void;
  readonly refuse: (streamId: string, error: ArcpError) => void;
}

interface Upload {
  readonly jobId: string;
  readonly uploader: Uploader;
}

const MAX_STREAMS = 1000;

/** Streams that clients send. They are not stored, and end with their connection. */
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
      uploader.refuse(streamId, new ArcpError('ALREADY_EXISTS', 'The stream is already open'));
    else if (ofJob >= MAX_STREAMS)
      uploader.refuse(
        streamId,
        new ArcpError('RESOURCE_EXHAUSTED', `The job already receives ${MAX_STREAMS} streams, which is the limit`),
      );
    else {
      this.#open.set(streamId, { jobId, uploader });
      this.#inbox(jobId).take(message);
    }
  }

  /** Handles a message. Those of unknown streams are ignored, since the runtime may have ended the stream meanwhile. */
  take(message: StreamMessage, uploader: Uploader): void {
    const streamId = message.stream_id!;
    const upload = this.#open.get(streamId);
    if (upload?.uploader !== uploader) return;
    this.#inboxes.get(upload.jobId)?.take(message);
    if (message.type !== 'stream.chunk') this.#open.delete(streamId);
  }

  disconnect(uploader: Uploader): void {
    const error = { code: 'ABORTED', message: 'The client that sent the stream has disconnected', retryable: true };
    for (const [streamId, upload] of this.#open) {
      if (upload.uploader !== uploader) continue;
      this.#open.delete(streamId);
      this.#inboxes.get(upload.jobId)?.fail(streamId, error);
    }
  }

  endJob(jobId: string): void {
    this.#inboxes.get(jobId)?.end();
    this.#inboxes.delete(jobId);
    for (const [streamId, upload] of this.#open) {
      if (upload.jobId !== jobId) continue;
      this.#open.delete(streamId);
      upload.uploader.refuse(streamId, new ArcpError('CANCELLED', 'The job has ended'));
    }
  }

  #inbox(jobId: string): StreamInbox {
    const inbox =
      this.#inboxes.get(jobId) ??
      new StreamInbox({
        isUpload: true,
        onPressure: (streamId, isFull) => this.#open.get(streamId)?.uploader.backpressure(streamId, isFull),
        onRefused: (streamId, error) => {
          this.#open.get(streamId)?.uploader.refuse(streamId, error);
          this.#open.delete(streamId);
        },
      });
    this.#inboxes.set(jobId, inbox);
    return inbox;
  }
}
