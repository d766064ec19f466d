/** The open streams of running jobs. */
import type { ArcpError } from '../protocol/errors.js';
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
