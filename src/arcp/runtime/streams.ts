/** The open streams of running jobs. */
import type { ArcpError } from '../protocol/errors.js';
import { type RateLimit, RateLimiter } from '../streams/writer.js';

interface OpenStream {
  readonly sessionId: string;
  readonly principal: string;
  readonly rateLimiter: RateLimiter;
  readonly cancel: (error: ArcpError) => Promise<void>;
}

/** Returns the rate limit of a session that another runtime serves; `undefined` at once if this one does. */
export type RemoteLimit = (sessionId: string) => Promise<RateLimit | undefined> | undefined;

export class StreamRegistry {
  readonly #now: () => number;
  readonly #open = new Map<string, OpenStream>();
  /** The numbers of open streams by session. */
  readonly #counts = new Map<string, number>();
  readonly #limits = new Map<string, RateLimit>();
  #onIdle: (sessionId: string) => void = () => undefined;
  readonly #remoteLimit: RemoteLimit;

  constructor(now: () => number, remoteLimit: RemoteLimit) {
    this.#now = now;
    this.#remoteLimit = remoteLimit;
  }

  rateLimiterFor(sessionId: string): RateLimiter {
    const rateLimiter = new RateLimiter(this.#now);
    const limit = this.#limits.get(sessionId);
    const remote = limit === undefined ? this.#remoteLimit(sessionId) : undefined;
    if (limit !== undefined) rateLimiter.set(sessionId, limit);
    else if (remote !== undefined) void this.#holdUntilKnown(rateLimiter, sessionId, remote);
    return rateLimiter;
  }

  /** Sends nothing until the limit is known. */
  async #holdUntilKnown(rateLimiter: RateLimiter, sessionId: string, remote: Promise<RateLimit | undefined>) {
    const hold: RateLimit = { rate: 0, maxBytes: Number.POSITIVE_INFINITY };
    rateLimiter.set(sessionId, hold);
    // After a failure, the next message of the client sets it.
    const limit = await remote.catch(() => undefined);
    // A later message of the client counts.
    if (rateLimiter.limitOf(sessionId) !== hold) return;
    if (limit === undefined) rateLimiter.unset([sessionId]);
    else rateLimiter.set(sessionId, limit);
  }

  /** Calls a function when the last open stream of a session has ended. */
  onIdle(notify: (sessionId: string) => void): void {
    this.#onIdle = notify;
  }

  add(streamId: string, open: OpenStream): void {
    const { sessionId } = open;
    this.#open.set(streamId, open);
    this.#counts.set(sessionId, (this.#counts.get(sessionId) ?? 0) + 1);
  }

  remove(streamId: string): void {
    const open = this.#open.get(streamId);
    if (open === undefined) return;
    const { sessionId } = open;
    this.#open.delete(streamId);
    const count = this.#counts.get(sessionId)! - 1;
    if (count > 0) this.#counts.set(sessionId, count);
    else {
      this.#counts.delete(sessionId);
      this.#onIdle(sessionId);
    }
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
