/** The event log: messages are committed first, and then published to subscribers. */
import { CATALOGUE, type MessageType } from '../../protocol/catalogue.js';
import { assertReadable, type MessageLimits } from '../../protocol/codec.js';
import { ArcpError } from '../../protocol/errors.js';
import {
  type ArcpStore,
  type Commit,
  type CommitResult,
  type JobRow,
  type NewEvent,
  type StoredEvent,
  StoreError,
} from '../../store/store.js';
import { type ComposedMessage, compose, type Draft } from './message.js';

export interface Subscriber {
  readonly onEvent: (event: StoredEvent) => void;
  readonly onTransient: (body: string) => void;
  /** Another process has committed to the store. */
  readonly onExternalCommit: () => void;
}

class Subscriptions {
  readonly #all = new Map<string, Set<Subscriber>>();

  get(id: string): ReadonlySet<Subscriber> | undefined {
    return this.#all.get(id);
  }

  add(id: string, subscriber: Subscriber): void {
    const subscribers = this.#all.get(id) ?? new Set();
    this.#all.set(id, subscribers.add(subscriber));
  }

  remove(id: string, subscriber: Subscriber): void {
    const subscribers = this.#all.get(id);
    if (subscribers?.delete(subscriber) === true && subscribers.size === 0) this.#all.delete(id);
  }

  *[Symbol.iterator](): Iterator<Subscriber> {
    for (const subscribers of this.#all.values()) yield* subscribers;
  }
}

export class EventBus {
  readonly sessions = new Subscriptions();
  readonly jobs = new Subscriptions();

  publish(event: StoredEvent): void {
    for (const subscriber of this.#subscribers(event)) subscriber.onEvent(event);
  }

  notifyExternalCommit(): void {
    for (const subscriber of new Set([...this.sessions, ...this.jobs])) subscriber.onExternalCommit();
  }

  publishTransient(job: Pick<JobRow, 'sessionId' | 'jobId'>, body: string): void {
    for (const subscriber of this.#subscribers(job)) subscriber.onTransient(body);
  }

  #subscribers({ sessionId, jobId }: Pick<NewEvent, 'sessionId' | 'jobId'>): Iterable<Subscriber> {
    const ofSession = this.sessions.get(sessionId);
    const ofJob = jobId === undefined ? undefined : this.jobs.get(jobId);
    if (ofJob === undefined) return ofSession ?? [];
    return ofSession === undefined ? ofJob : new Set([...ofSession, ...ofJob]);
  }
}

interface EventOptions {
  /** The stored id of a direct call, which the message does not contain. */
  readonly storedJobId?: string | undefined;
  /** `true` for the last message of a direct call. */
  readonly isTerminal?: boolean | undefined;
  readonly limits?: MessageLimits | undefined;
}

export class EventLog {
  readonly store: ArcpStore;
  readonly #bus: EventBus;
  readonly now: () => number;
  #last = 0;
  readonly #maxBytes: number;

  constructor(store: ArcpStore, bus: EventBus, now: () => number, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.store = store;
    this.#bus = bus;
    this.now = now;
  }

  event<T extends MessageType>(
    draft: Draft<T> & { readonly sessionId: string },
    { storedJobId: keptAs, isTerminal, limits = {} }: EventOptions = {},
  ): NewEvent {
    const { envelope, body } = this.compose(draft);
    const { type, sessionId, jobId, streamId, trace } = draft;
    const maxMessageBytes = Math.min(this.#maxBytes, limits.maxMessageBytes ?? this.#maxBytes);
    assertReadable(body, type, { ...limits, maxMessageBytes });
    return {
      id: envelope.id,
      type,
      body,
      sessionId,
      jobId: keptAs ?? jobId,
      streamId,
      traceId: trace.traceId,
      ...(isTerminal === true || CATALOGUE[type].endsJob ? { isTerminal: true } : {}),
    };
  }

  async checkExternalCommits(): Promise<void> {
    const before = this.#last;
    const last = await this.store.lastSequence();
    // A local commit was made meanwhile.
    if (last <= this.#last || before !== this.#last) return;
    this.#last = last;
    this.#bus.notifyExternalCommit();
  }

  compose<T extends MessageType>(draft: Draft<T>): ComposedMessage {
    return compose(draft, this.now());
  }

  /** Commits, and publishes the events. @throws ArcpError `UNAVAILABLE`, retryable, if the store failed; then nothing was changed */
  async commit(entry: Commit): Promise<CommitResult> {
    let result: CommitResult;
    try {
      result = await this.store.commit(entry);
    } catch (cause) {
      if (cause instanceof ArcpError) throw cause;
      const reason = cause instanceof StoreError ? cause.reason : 'failed';
      throw new ArcpError('UNAVAILABLE', 'The store cannot write at the moment; try again later', {
        details: { reason },
        cause,
      });
    }
    if (result.outcome !== 'done' || result.sequences.length === 0) return result;
    const [first] = result.sequences;
    const isGap = first !== this.#last + 1;
    this.#last = result.sequences.at(-1)!;
    // Other runtimes committed in between; subscribers read all events in order.
    if (isGap) this.#bus.notifyExternalCommit();
    const storedAt = this.now();
    for (const [index, event] of (entry.events ?? []).entries())
      this.#bus.publish({ ...event, sequence: result.sequences[index]!, storedAt });
    return result;
  }
}
