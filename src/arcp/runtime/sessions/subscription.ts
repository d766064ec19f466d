/** The events of a session, sent to its client in order of their commits. */
import type { Channel } from '../../../channels/channel.js';
import type { JobRow, StoredEvent } from '../../store/store.js';
import type { EventBus, EventLog, Subscriber } from '../events/log.js';
import type { Sent } from './session.js';

const PAGE = 256;
/** The maximum number of bytes that wait in the channel; further events stay in the store. */
const HIGH_WATER_MARK = 1024 * 1024;
const RETRY_MS = 500;

interface SubscriptionOptions {
  readonly log: EventLog;
  readonly bus: EventBus;
  readonly channel: Channel;
  readonly sessionId: string;
  readonly onError: (error: unknown) => void;
}

/** A session, or a job of another one, whose events the client receives in order. */
class Source implements Subscriber {
  readonly of: { readonly sessionId: string } | { readonly jobId: string };
  readonly #onEvent: (source: Source, event: StoredEvent, isGap: boolean) => void;
  readonly onTransient: (body: string) => void;
  readonly onExternalCommit: () => void;
  cursor = 0;
  isBehind = false;
  unsubscribe: () => void = () => undefined;

  constructor(
    of: Source['of'],
    on: {
      readonly event: (source: Source, event: StoredEvent, isGap: boolean) => void;
      readonly transient: (body: string) => void;
      readonly behind: (source: Source) => void;
    },
  ) {
    this.of = of;
    this.#onEvent = on.event;
    this.onTransient = on.transient;
    this.onExternalCommit = () => on.behind(this);
  }

  readonly onEvent = (event: StoredEvent, isGap: boolean): void => this.#onEvent(this, event, isGap);
}

/** Cursors over the store. A fast client receives events as they are committed; for a slow one they stay in the store. */
export class SessionSubscription {
  readonly #options: SubscriptionOptions;
  readonly #session: Source;
  readonly #jobs = new Map<string, Source>();
  sent: Sent | undefined;
  /** `false` until the position of the client is known; until then, nothing is sent. */
  isStarted = false;
  #pauses = 0;
  #isReading = false;
  #isOver = false;
  #waiters: (() => void)[] = [];

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    const { sessionId } = options;
    this.#session = this.#source({ sessionId }, { sessionId });
  }

  startAfter(sequence: number, lastId?: string): void {
    this.#session.cursor = sequence;
    if (lastId !== undefined) this.sent = { id: lastId, sequence };
    this.isStarted = true;
    this.#fallBehind(this.#session);
  }

  /** Sends the further events of a job. Those of jobs of the session itself are sent anyway. */
  followJob({ jobId, sessionId }: Pick<JobRow, 'jobId' | 'sessionId'>, after: number): void {
    if (sessionId === this.#options.sessionId || this.#jobs.has(jobId) || this.#isOver) return;
    const source = this.#source({ jobId }, { sessionId, jobId });
    source.cursor = after;
    this.#jobs.set(jobId, source);
    this.#fallBehind(source);
  }

  pause(): void {
    this.#pauses++;
  }

  resume(): void {
    this.#pauses--;
    if (this.#isBehind()) void this.#read();
  }

  #source(of: Source['of'], subject: { readonly sessionId: string; readonly jobId?: string }): Source {
    const source = new Source(of, {
      event: (to, event, isGap) => this.#onEvent(to, event, isGap),
      transient: (body) => this.#onTransient(body),
      behind: (to) => this.#fallBehind(to),
    });
    source.unsubscribe = this.#options.bus.subscribe(subject, source);
    return source;
  }

  #onEvent(source: Source, event: StoredEvent, isGap: boolean): void {
    if (this.#isOver) return;
    // The store has this event, too, and is read first.
    const mustWait = isGap || source.isBehind || this.#isReading || this.#isPaused || this.#isFull();
    if (mustWait) this.#fallBehind(source);
    else this.#send(source, event);
  }

  #fallBehind(source: Source): void {
    if (this.#isOver) return;
    source.isBehind = true;
    if (!this.#isPaused) void this.#read();
  }

  #onTransient(body: string): void {
    // A delayed heartbeat has no use.
    if (!this.#isOver && !this.#isPaused && !this.#isFull()) this.#options.channel.send(body);
  }

  /** Sends earlier messages of the session or one job while the subscription is paused. @returns their number, and the id of the last */
  async replay(query: ReplayQuery, filter: (event: StoredEvent) => boolean) {
    const { log, channel } = this.#options;
    let { after } = query;
    let count = 0;
    let lastId: string | undefined;
    while (!this.#isOver && count < query.limit) {
      // A client that does not read waits for its replay.
      if (this.#isFull()) await channel.ready();
      const events = await log.store.readEvents({ ...query.of, after, upTo: query.upTo, limit: PAGE });
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
    if (this.#isOver || !(this.#isBehind() || this.#isReading)) return undefined;
    return new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const source of this.#sources()) source.unsubscribe();
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  get #isPaused(): boolean {
    return !this.isStarted || this.#pauses > 0;
  }

  #isFull(): boolean {
    return this.#options.channel.backlog() > HIGH_WATER_MARK;
  }

  *#sources(): Iterable<Source> {
    yield this.#session;
    yield* this.#jobs.values();
  }

  #isBehind(): boolean {
    for (const { isBehind } of this.#sources()) if (isBehind) return true;
    return false;
  }

  #send(source: Source, { id, sequence, body }: StoredEvent): void {
    if (sequence <= source.cursor) return;
    source.cursor = sequence;
    if (source === this.#session) this.sent = { id, sequence };
    this.#options.channel.send(body);
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (!this.#isOver && !this.#isPaused && this.#isBehind())
        for (const source of [...this.#sources()]) if (source.isBehind) await this.#readPage(source);
    } catch (error) {
      this.#options.onError(error);
      setTimeout(() => void this.#read(), RETRY_MS);
    } finally {
      this.#isReading = false;
      if (!this.#isBehind() || this.#isOver) for (const resolve of this.#waiters.splice(0)) resolve();
    }
  }

  async #readPage(source: Source): Promise<void> {
    const { log, channel } = this.#options;
    if (this.#isFull()) await channel.ready();
    // Events committed while reading are found by the next read.
    source.isBehind = false;
    try {
      const events = await log.store.readEvents({ ...source.of, after: source.cursor, limit: PAGE });
      if (this.#isOver || this.#isPaused) {
        source.isBehind = true;
        return;
      }
      for (const event of events) this.#send(source, event);
      if (events.length === PAGE) source.isBehind = true;
    } catch (error) {
      source.isBehind = true;
      throw error;
    }
  }
}

interface ReplayQuery {
  readonly of: Source['of'];
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}
