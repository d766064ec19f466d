/** What a session is sent: all that was committed for it, in order, from where it stands in the store. */
import type { Channel } from '../../../channels/channel.js';
import type { ArcpStore, StoredEvent } from '../../store/store.js';
import type { Hub, Subscriber } from '../events/log.js';
import type { Sent } from './session.js';

/** Events that are read from the store at once. */
const PAGE = 256;
/** Bytes that may wait in the channel before the rest is left in the store. */
const HIGH_WATER_MARK = 1024 * 1024;
/** Milliseconds until the store is asked again after it has failed. */
const LOOK_AGAIN = 500;

interface FeedOptions {
  readonly store: ArcpStore;
  readonly hub: Hub;
  readonly channel: Channel;
  readonly sessionId: string;
  /** Told when the store fails while the session is behind; it is asked again. */
  readonly onError: (error: unknown) => void;
}

/**
 * A cursor over the store. While the client keeps up, events go out as they are committed. Where it does not, they stay in the store, and
 * are read as it takes them: nothing piles up here, and nothing is lost.
 */
export class Feed implements Subscriber {
  readonly #options: FeedOptions;
  readonly #jobs = new Set<string>();
  /** The last event that was sent, or is known to the client. */
  #cursor = 0;
  #sent: Sent | undefined;
  /** Whether it is known where the client stands: before, nothing goes out. */
  #isStarted = false;
  /** Who sends something out of the order. */
  #holds = 0;
  #isBehind = false;
  #isReading = false;
  #isOver = false;
  /** Who waits until all was sent. */
  #waiting: (() => void)[] = [];

  constructor(options: FeedOptions) {
    this.#options = options;
    options.hub.subscribeToSession(options.sessionId, this);
  }

  /**
   * Goes on behind an event.
   *
   * @param lastId the last message before it that the client has been sent
   */
  startAfter(sequence: number, lastId?: string): void {
    this.#cursor = sequence;
    if (lastId !== undefined) this.#sent = { id: lastId, sequence };
    this.#isBehind = true;
    this.#isStarted = true;
    if (!this.#isHeld) void this.#read();
  }

  /** Whether it is known yet where the client stands. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** The last message that was sent, where one was. */
  get sent(): Sent | undefined {
    return this.#sent;
  }

  get cursor(): number {
    return this.#cursor;
  }

  /** Follows a job of another session, too, from the next event on. */
  followJob(jobId: string): void {
    this.#jobs.add(jobId);
    this.#options.hub.subscribeToJob(jobId, this);
  }

  /** Nothing goes out, until it is released as often. */
  pause(): void {
    this.#holds++;
  }

  resume(): void {
    this.#holds--;
    if (!this.#isHeld && this.#isBehind) void this.#read();
  }

  readonly onEvent = (event: StoredEvent): void => {
    if (this.#isOver) return;
    // Behind means: the store is read first, where this event is found, too.
    if (this.#isBehind || this.#isReading || this.#isHeld || this.#isFull()) {
      this.#isBehind = true;
      if (!this.#isHeld) void this.#read();
    } else this.#send(event);
  };

  readonly onExternalCommit = (): void => {
    if (this.#isOver) return;
    this.#isBehind = true;
    if (!this.#isHeld) void this.#read();
  };

  readonly onTransient = (body: string): void => {
    // A sign of life that comes late is none.
    if (!this.#isOver && !this.#isHeld && !this.#isFull()) this.#options.channel.send(body);
  };

  /**
   * Sends what the session, or one job, was sent before; the feed itself is held meanwhile.
   *
   * @param upTo the last event that may be sent
   * @returns how many were sent, and the last of them
   */
  async replay(query: ReplayQuery, mayPass: (event: StoredEvent) => boolean): Promise<Replayed> {
    const { store, channel } = this.#options;
    let { after } = query;
    let count = 0;
    let lastId: string | undefined;
    while (!this.#isOver && count < query.limit) {
      // Who asks again and again, and does not read, waits for its own reading.
      if (this.#isFull()) await channel.ready();
      const events = await store.readEvents({ ...query.of, after, upTo: query.upTo, limit: PAGE });
      for (const event of events) {
        after = event.sequence;
        if (count >= query.limit || !mayPass(event)) continue;
        channel.send(event.body);
        count++;
        lastId = event.id;
      }
      if (events.length < PAGE) break;
    }
    return { count, lastId, isCut: count >= query.limit };
  }

  /** Resolves when all that was committed was sent; `undefined` when that is so now. */
  caughtUp(): Promise<void> | undefined {
    if (this.#isOver || !(this.#isBehind || this.#isReading)) return undefined;
    return new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { hub, sessionId } = this.#options;
    hub.unsubscribeFromSession(sessionId, this);
    for (const jobId of this.#jobs) hub.unsubscribeFromJob(jobId, this);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  get #isHeld(): boolean {
    return !this.#isStarted || this.#holds > 0;
  }

  #isFull(): boolean {
    return this.#options.channel.backlog() > HIGH_WATER_MARK;
  }

  #send({ id, sequence, body }: StoredEvent): void {
    if (sequence <= this.#cursor) return;
    this.#cursor = sequence;
    this.#sent = { id, sequence };
    this.#options.channel.send(body);
  }

  /** Reads on until there is nothing more; from then on events go out as they are committed. */
  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { store, channel, sessionId, onError } = this.#options;
    try {
      while (!this.#isOver && !this.#isHeld && this.#isBehind) {
        if (this.#isFull()) await channel.ready();
        // What is committed while it is read is found by the next look.
        this.#isBehind = false;
        const query = { sessionId, jobIds: [...this.#jobs], after: this.#cursor, limit: PAGE };
        const events = await store.readEvents(query);
        if (this.#isOver || this.#isHeld) {
          this.#isBehind = true;
          break;
        }
        for (const event of events) this.#send(event);
        if (events.length === PAGE) this.#isBehind = true;
      }
    } catch (error) {
      onError(error);
      this.#isBehind = true;
      setTimeout(() => void this.#read(), LOOK_AGAIN);
    } finally {
      this.#isReading = false;
      if (!this.#isBehind || this.#isOver) for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }
}

interface ReplayQuery {
  readonly of: { readonly sessionId: string } | { readonly jobIds: readonly string[] };
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

interface Replayed {
  readonly count: number;
  readonly lastId: string | undefined;
  /** There may have been more. */
  readonly isCut: boolean;
}
