/** The log of events: what is said is committed first, and then told to those who follow. */
import { CATALOGUE, type MessageType } from '../../protocol/catalogue.js';
import { assertReadable, type MessageLimits } from '../../protocol/codec.js';
import { ArcpError } from '../../protocol/errors.js';
import {
  type ArcpStore,
  type Commit,
  type CommitResult,
  type NewEvent,
  type StoredEvent,
  StoreError,
} from '../../store/store.js';
import { type ComposedMessage, compose, type Draft } from './message.js';

/** Somebody who follows a session, and some jobs of other sessions. */
export interface Subscriber {
  /** An event that was just committed, and that belongs to what is followed. In the order of the commits. */
  readonly onEvent: (event: StoredEvent) => void;
  /** Something that is not kept: a heartbeat. */
  readonly onTransient: (body: string) => void;
  /** Somebody else has committed to the same store: what it was stands there. */
  readonly onExternalCommit: () => void;
}

export class Hub {
  readonly #bySession = new Map<string, Set<Subscriber>>();
  readonly #byJob = new Map<string, Set<Subscriber>>();

  subscribeToSession(sessionId: string, subscriber: Subscriber): void {
    add(this.#bySession, sessionId, subscriber);
  }

  subscribeToJob(jobId: string, subscriber: Subscriber): void {
    add(this.#byJob, jobId, subscriber);
  }

  unsubscribeFromSession(sessionId: string, subscriber: Subscriber): void {
    remove(this.#bySession, sessionId, subscriber);
  }

  unsubscribeFromJob(jobId: string, subscriber: Subscriber): void {
    remove(this.#byJob, jobId, subscriber);
  }

  publish(event: StoredEvent): void {
    for (const subscriber of this.#subscribers(event)) subscriber.onEvent(event);
  }

  /** Another runtime has committed something. */
  notifyExternalCommit(): void {
    const all = [...this.#bySession.values(), ...this.#byJob.values()].flatMap((subscribers) => [...subscribers]);
    for (const subscriber of new Set(all)) subscriber.onExternalCommit();
  }

  /** To whoever follows the job now; nobody else will ever know. */
  publishTransient(to: { readonly sessionId: string; readonly jobId: string }, body: string): void {
    for (const subscriber of this.#subscribers(to)) subscriber.onTransient(body);
  }

  #subscribers({
    sessionId,
    jobId,
  }: {
    readonly sessionId: string;
    readonly jobId?: string | undefined;
  }): Iterable<Subscriber> {
    const ofSession = this.#bySession.get(sessionId);
    const ofJob = jobId === undefined ? undefined : this.#byJob.get(jobId);
    if (ofJob === undefined) return ofSession ?? [];
    return ofSession === undefined ? ofJob : new Set([...ofSession, ...ofJob]);
  }
}

function add(index: Map<string, Set<Subscriber>>, key: string, subscriber: Subscriber): void {
  const subscribers = index.get(key);
  if (subscribers === undefined) index.set(key, new Set([subscriber]));
  else subscribers.add(subscriber);
}

function remove(index: Map<string, Set<Subscriber>>, key: string, subscriber: Subscriber): void {
  const subscribers = index.get(key);
  if (subscribers?.delete(subscriber) === true && subscribers.size === 0) index.delete(key);
}

/** How a message stands in the store. */
interface Keeping {
  /** The job that it belongs to, where it names none itself: that of a direct call. */
  readonly keptAs?: string | undefined;
  /** The last one of a direct call; of jobs, their types say it. */
  readonly isTerminal?: boolean | undefined;
  /** Limits of the client that reads it. @default those of the runtime */
  readonly limits?: MessageLimits | undefined;
}

export class EventLog {
  readonly store: ArcpStore;
  readonly #hub: Hub;
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** The last sequence number that is known. */
  #last = 0;
  readonly #maxBytes: number;

  /** @param maxBytes most bytes of a message */
  constructor(store: ArcpStore, hub: Hub, now: () => number, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.store = store;
    this.#hub = hub;
    this.now = now;
  }

  /**
   * A message that is to be committed.
   *
   * @throws ArcpError `INVALID_ARGUMENT`, `PAYLOAD_TOO_LARGE`
   */
  event<T extends MessageType>(
    draft: Draft<T> & { readonly sessionId: string },
    { keptAs, isTerminal, limits = {} }: Keeping = {},
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

  /**
   * Looks whether another runtime has committed something to the same store, and tells those who follow.
   *
   * @throws StoreError when it cannot be read
   */
  async checkExternalCommits(): Promise<void> {
    const before = this.#last;
    const last = await this.store.lastSequence();
    // What was committed here meanwhile was told.
    if (last <= this.#last || before !== this.#last) return;
    this.#last = last;
    this.#hub.notifyExternalCommit();
  }

  /** A message that is not kept. */
  compose<T extends MessageType>(draft: Draft<T>): ComposedMessage {
    return compose(draft, this.now());
  }

  /**
   * Commits, and tells all who follow.
   *
   * @throws ArcpError `UNAVAILABLE`, retryable, when the store failed: nothing was done and nothing is told
   */
  async commit(entry: Commit): Promise<CommitResult> {
    let result: CommitResult;
    try {
      result = await this.store.commit(entry);
    } catch (cause) {
      throw unavailable(cause);
    }
    if (result.outcome !== 'done' || result.sequences.length === 0) return result;
    const [first] = result.sequences;
    const isGap = first !== this.#last + 1;
    this.#last = result.sequences.at(-1)!;
    // What stands in between is another runtime's. Whoever follows reads it, and this, in order.
    if (isGap) this.#hub.notifyExternalCommit();
    const at = this.now();
    for (const [index, event] of (entry.events ?? []).entries())
      this.#hub.publish({ ...event, sequence: result.sequences[index]!, at });
    return result;
  }
}

/** What a store threw, as others are told. */
export function unavailable(cause: unknown): ArcpError {
  if (cause instanceof ArcpError) return cause;
  const why = cause instanceof StoreError ? cause.reason : 'failed';
  return new ArcpError('UNAVAILABLE', 'Nothing can be kept at the moment', { details: { reason: why }, cause });
}
