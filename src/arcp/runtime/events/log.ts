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
  type RecordChange,
  type StoredEvent,
  StoreError,
} from '../../store/store.js';
import { type ComposedMessage, compose, type Draft } from './message.js';

export interface Subscriber {
  /** @param isGap `true` if earlier events of the session, from other processes, must be read first */
  readonly onEvent: (event: StoredEvent, isGap: boolean) => void;
  readonly onTransient: (body: string) => void;
  /** Another process has committed events of the session. */
  readonly onExternalCommit: () => void;
}

/** The subscribers of one session and of its jobs. */
class Topic {
  readonly session = new Set<Subscriber>();
  readonly jobs = new Map<string, Set<Subscriber>>();
  /** The last sequence number that this process knows; every event up to it was published or announced. */
  last = -1;

  *all(): Iterable<Subscriber> {
    yield* this.session;
    for (const subscribers of this.jobs.values()) yield* subscribers;
  }

  of(jobId: string | undefined): readonly Subscriber[] {
    const ofJob = jobId === undefined ? undefined : this.jobs.get(jobId);
    return ofJob === undefined ? [...this.session] : [...this.session, ...ofJob];
  }
}

type Subject = Pick<JobRow, 'sessionId'> & { readonly jobId?: string | undefined };

/** Distributes events to the subscribers in this process. */
export class EventBus {
  readonly #topics = new Map<string, Topic>();

  /** Subscribes to a session, or to one of its jobs. @returns a function that ends the subscription */
  subscribe({ sessionId, jobId }: Subject, subscriber: Subscriber): () => void {
    const topic = this.#topics.get(sessionId) ?? new Topic();
    this.#topics.set(sessionId, topic);
    const subscribers = jobId === undefined ? topic.session : (topic.jobs.get(jobId) ?? new Set());
    subscribers.add(subscriber);
    if (jobId !== undefined) topic.jobs.set(jobId, subscribers);
    return () => {
      if (!subscribers.delete(subscriber)) return;
      if (jobId !== undefined && subscribers.size === 0) topic.jobs.delete(jobId);
      if (topic.session.size === 0 && topic.jobs.size === 0) this.#topics.delete(sessionId);
    };
  }

  publish(event: StoredEvent, previous: number): void {
    const topic = this.#topics.get(event.sessionId);
    if (topic === undefined) return;
    const isGap = previous > topic.last;
    topic.last = Math.max(topic.last, event.sequence);
    for (const subscriber of topic.of(event.jobId)) subscriber.onEvent(event, isGap);
    if (!isGap) return;
    const told = new Set(topic.of(event.jobId));
    for (const subscriber of [...topic.all()]) if (!told.has(subscriber)) subscriber.onExternalCommit();
  }

  publishTransient(subject: Subject, body: string): void {
    for (const subscriber of this.#topics.get(subject.sessionId)?.of(subject.jobId) ?? []) subscriber.onTransient(body);
  }

  get sessionIds(): readonly string[] {
    return [...this.#topics.keys()];
  }

  /** Announces the last events of a session in the store, which another process may have committed. */
  announce(sessionId: string, last: number): void {
    const topic = this.#topics.get(sessionId);
    if (topic === undefined || last <= topic.last) return;
    topic.last = last;
    for (const subscriber of [...topic.all()]) subscriber.onExternalCommit();
  }
}

interface EventOptions {
  /** The stored id of a direct call, which the message does not contain. */
  readonly storedJobId?: string | undefined;
  /** `true` for the last message of a direct call. */
  readonly isTerminal?: boolean | undefined;
  readonly limits?: MessageLimits | undefined;
}

/** An expectation of all commits to a log. */
interface Guard {
  readonly check: RecordChange;
  /** Called when the expectation has failed. @returns the error of the commit */
  readonly onFailed: () => ArcpError;
}

export class EventLog {
  readonly store: ArcpStore;
  readonly #bus: EventBus;
  readonly now: () => number;
  readonly #maxBytes: number;
  readonly #guard: Guard | undefined;

  constructor(store: ArcpStore, bus: EventBus, now: () => number, maxBytes: number, guard?: Guard) {
    this.#maxBytes = maxBytes;
    this.store = store;
    this.#bus = bus;
    this.now = now;
    this.#guard = guard;
  }

  /** Returns the same log, whose commits are refused once the expectation fails. */
  guarded(guard: Guard): EventLog {
    return new EventLog(this.store, this.#bus, this.now, this.#maxBytes, guard);
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
      isTerminal: isTerminal === true || CATALOGUE[type].endsJob || undefined,
    };
  }

  /**
   * Looks for events of other processes, in the given sessions or in all that have subscribers.
   *
   * @param before called once the events are known, before they are announced
   */
  async checkExternalCommits(
    sessionIds: readonly string[] = this.#bus.sessionIds,
    before: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const subscribed = new Set(this.#bus.sessionIds);
    const watched = sessionIds.filter((id) => subscribed.has(id));
    const lasts = watched.length === 0 ? [] : await this.store.lastSequences(watched);
    await before();
    for (const [index, sessionId] of watched.entries()) this.#bus.announce(sessionId, lasts[index]!);
  }

  /** Returns the last sequence number of a session. */
  async lastSequence(sessionId: string): Promise<number> {
    const [last] = await this.store.lastSequences([sessionId]);
    return last!;
  }

  compose<T extends MessageType>(draft: Draft<T>): ComposedMessage {
    return compose(draft, this.now());
  }

  /** Commits, and publishes the events. @throws ArcpError `UNAVAILABLE`, retryable, if the store failed; then nothing was changed */
  async commit(entry: Commit): Promise<CommitResult> {
    let result: CommitResult;
    const guard = this.#guard;
    try {
      result = await this.store.commit(guard === undefined ? entry : guardedCommit(entry, guard));
    } catch (cause) {
      if (cause instanceof ArcpError) throw cause;
      const reason = cause instanceof StoreError ? cause.reason : 'failed';
      throw new ArcpError('UNAVAILABLE', 'The store cannot write at the moment; try again later', {
        details: { reason },
        cause,
      });
    }
    if (result.outcome === 'conflict' && result.scope === guard?.check.scope) throw guard.onFailed();
    if (result.outcome !== 'done') return result;
    const storedAt = this.now();
    const { positions } = result;
    entry.events?.forEach((event, index) => {
      const { sequence, previous } = positions[index]!;
      this.#bus.publish(storedEvent(event, sequence, storedAt), previous);
    });
    return result;
  }
}

/** Returns an event of the log, built member by member, since V8 copies objects of this size slowly. */
function storedEvent(event: NewEvent, sequence: number, storedAt: number): StoredEvent {
  const { id, type, body, sessionId, jobId, streamId, traceId, isTerminal } = event;
  return { id, type, body, sessionId, jobId, streamId, traceId, isTerminal, sequence, storedAt };
}

function guardedCommit({ records = [], newJobs, jobs, events, maxQueued }: Commit, { check }: Guard): Commit {
  return { records: [check, ...records], newJobs, jobs, events, maxQueued };
}
