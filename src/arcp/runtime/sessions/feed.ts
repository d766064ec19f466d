/** What a session is sent: all that was committed for it, in order, from where it stands in the store. */
import type { Channel } from '../../../channels/channel.js';
import type { ArcpStore, StoredEvent } from '../../store/store.js';
import type { Hub, Subscriber } from '../events/log.js';
import type { Sent } from './session.js';

const PAGE = 256;
/** Bytes that may wait in the channel; the rest stays in the store. */
const HIGH_WATER_MARK = 1024 * 1024;
const LOOK_AGAIN = 500;

interface FeedOptions {
  readonly store: ArcpStore;
  readonly hub: Hub;
  readonly channel: Channel;
  readonly sessionId: string;
  readonly onError: (error: unknown) => void;
}

/** A cursor over the store. A client that keeps up gets events as they are committed; for others they stay in the store. */
export class Feed implements Subscriber {
  readonly #options: FeedOptions;
  readonly #jobs = new Set<string>();
  #cursor = 0;
  sent: Sent | undefined;
  /** Until the client's position is known, nothing is sent. */
  isStarted = false;
  #holds = 0;
  #isBehind = false;
  #isReading = false;
  #isOver = false;
  #waiting: (() => void)[] = [];

  constructor(options: FeedOptions) {
    this.#options = options;
    options.hub.sessions.add(options.sessionId, this);
  }

  startAfter(sequence: number, lastId?: string): void {
    this.#cursor = sequence;
    if (lastId !== undefined) this.sent = { id: lastId, sequence };
    this.#isBehind = true;
    this.isStarted = true;
    if (!this.#isHeld) void this.#read();
  }

  followJob(jobId: string): void {
    this.#jobs.add(jobId);
    this.#options.hub.jobs.add(jobId, this);
  }

  pause(): void {
    this.#holds++;
  }

  resume(): void {
    this.#holds--;
    if (!this.#isHeld && this.#isBehind) void this.#read();
  }

  readonly onEvent = (event: StoredEvent): void => {
    if (this.#isOver) return;
    // The store is read first, and holds this event, too.
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
    // A late heartbeat is worthless.
    if (!this.#isOver && !this.#isHeld && !this.#isFull()) this.#options.channel.send(body);
  };

  /** Sends earlier messages of the session or one job while the feed is paused. @returns how many, and the id of the last */
  async replay(query: ReplayQuery, mayPass: (event: StoredEvent) => boolean) {
    const { store, channel } = this.#options;
    let { after } = query;
    let count = 0;
    let lastId: string | undefined;
    while (!this.#isOver && count < query.limit) {
      // A client that requests replays without reading waits.
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

  /** Resolves when all committed events were sent; `undefined` if that is so now. */
  caughtUp(): Promise<void> | undefined {
    if (this.#isOver || !(this.#isBehind || this.#isReading)) return undefined;
    return new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { hub, sessionId } = this.#options;
    hub.sessions.remove(sessionId, this);
    for (const jobId of this.#jobs) hub.jobs.remove(jobId, this);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  get #isHeld(): boolean {
    return !this.isStarted || this.#holds > 0;
  }

  #isFull(): boolean {
    return this.#options.channel.backlog() > HIGH_WATER_MARK;
  }

  #send({ id, sequence, body }: StoredEvent): void {
    if (sequence <= this.#cursor) return;
    this.#cursor = sequence;
    this.sent = { id, sequence };
    this.#options.channel.send(body);
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { store, channel, sessionId, onError } = this.#options;
    try {
      while (!this.#isOver && !this.#isHeld && this.#isBehind) {
        if (this.#isFull()) await channel.ready();
        // Events committed while reading are found by the next read.
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
