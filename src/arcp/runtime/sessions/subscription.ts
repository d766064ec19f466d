/** The events of a session, sent to its client in order of their commits. */
import type { Channel } from '../../../channels/channel.js';
import type { ArcpStore, StoredEvent } from '../../store/store.js';
import type { EventBus, Subscriber } from '../events/log.js';
import type { Sent } from './session.js';

const PAGE = 256;
/** The maximum number of bytes that wait in the channel; further events stay in the store. */
const HIGH_WATER_MARK = 1024 * 1024;
const RETRY_MS = 500;

interface SubscriptionOptions {
  readonly store: ArcpStore;
  readonly bus: EventBus;
  readonly channel: Channel;
  readonly sessionId: string;
  readonly onError: (error: unknown) => void;
}

/** A cursor over the store. A fast client receives events as they are committed; for a slow one they stay in the store. */
export class SessionSubscription implements Subscriber {
  readonly #options: SubscriptionOptions;
  readonly #jobs = new Set<string>();
  #cursor = 0;
  sent: Sent | undefined;
  /** `false` until the position of the client is known; until then, nothing is sent. */
  isStarted = false;
  #pauses = 0;
  #isBehind = false;
  #isReading = false;
  #isOver = false;
  #waiters: (() => void)[] = [];

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    options.bus.sessions.add(options.sessionId, this);
  }

  startAfter(sequence: number, lastId?: string): void {
    this.#cursor = sequence;
    if (lastId !== undefined) this.sent = { id: lastId, sequence };
    this.#isBehind = true;
    this.isStarted = true;
    if (!this.#isPaused) void this.#read();
  }

  followJob(jobId: string): void {
    this.#jobs.add(jobId);
    this.#options.bus.jobs.add(jobId, this);
  }

  pause(): void {
    this.#pauses++;
  }

  resume(): void {
    this.#pauses--;
    if (!this.#isPaused && this.#isBehind) void this.#read();
  }

  readonly onEvent = (event: StoredEvent): void => {
    if (this.#isOver) return;
    // The store has this event, too, and is read first.
    if (this.#isBehind || this.#isReading || this.#isPaused || this.#isFull()) {
      this.#isBehind = true;
      if (!this.#isPaused) void this.#read();
    } else this.#send(event);
  };

  readonly onExternalCommit = (): void => {
    if (this.#isOver) return;
    this.#isBehind = true;
    if (!this.#isPaused) void this.#read();
  };

  readonly onTransient = (body: string): void => {
    // A delayed heartbeat has no use.
    if (!this.#isOver && !this.#isPaused && !this.#isFull()) this.#options.channel.send(body);
  };

  /** Sends earlier messages of the session or one job while the subscription is paused. @returns their number, and the id of the last */
  async replay(query: ReplayQuery, filter: (event: StoredEvent) => boolean) {
    const { store, channel } = this.#options;
    let { after } = query;
    let count = 0;
    let lastId: string | undefined;
    while (!this.#isOver && count < query.limit) {
      // A client that does not read waits for its replay.
      if (this.#isFull()) await channel.ready();
      const events = await store.readEvents({ ...query.of, after, upTo: query.upTo, limit: PAGE });
      for (const event of events) {
        after = event.sequence;
        if (count >= query.limit || !filter(event)) continue;
        channel.send(event.body);
        count++;
        lastId = event.id;
      }
      if (events.length < PAGE) break;
    }
    return { count, lastId, isCut: count >= query.limit };
  }

  /** Resolves when all committed events were sent; returns `undefined` if they were. */
  caughtUp(): Promise<void> | undefined {
    if (this.#isOver || !(this.#isBehind || this.#isReading)) return undefined;
    return new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { bus, sessionId } = this.#options;
    bus.sessions.remove(sessionId, this);
    for (const jobId of this.#jobs) bus.jobs.remove(jobId, this);
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  get #isPaused(): boolean {
    return !this.isStarted || this.#pauses > 0;
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
      while (!this.#isOver && !this.#isPaused && this.#isBehind) {
        if (this.#isFull()) await channel.ready();
        // Events committed while reading are found by the next read.
        this.#isBehind = false;
        const query = { sessionId, jobIds: [...this.#jobs], after: this.#cursor, limit: PAGE };
        const events = await store.readEvents(query);
        if (this.#isOver || this.#isPaused) {
          this.#isBehind = true;
          break;
        }
        for (const event of events) this.#send(event);
        if (events.length === PAGE) this.#isBehind = true;
      }
    } catch (error) {
      onError(error);
      this.#isBehind = true;
      setTimeout(() => void this.#read(), RETRY_MS);
    } finally {
      this.#isReading = false;
      if (!this.#isBehind || this.#isOver) for (const resolve of this.#waiters.splice(0)) resolve();
    }
  }
}

interface ReplayQuery {
  readonly of: { readonly sessionId: string } | { readonly jobIds: readonly string[] };
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}
