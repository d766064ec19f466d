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

export interface Subscriber {
  readonly onEvent: (event: StoredEvent) => void;
  readonly onTransient: (body: string) => void;
  /** Another process has committed to the store. */
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

  notifyExternalCommit(): void {
    const all = [...this.#bySession.values(), ...this.#byJob.values()].flatMap((subscribers) => [...subscribers]);
    for (const subscriber of new Set(all)) subscriber.onExternalCommit();
  }

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

interface Keeping {
  /** The job of a direct call, which the message does not name. */
  readonly keptAs?: string | undefined;
  /** Set for the last message of a direct call. */
  readonly isTerminal?: boolean | undefined;
  readonly limits?: MessageLimits | undefined;
}

export class EventLog {
  readonly store: ArcpStore;
  readonly #hub: Hub;
  readonly now: () => number;
  #last = 0;
  readonly #maxBytes: number;

  constructor(store: ArcpStore, hub: Hub, now: () => number, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.store = store;
    this.#hub = hub;
    this.now = now;
  }

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

  async checkExternalCommits(): Promise<void> {
    const before = this.#last;
    const last = await this.store.lastSequence();
    // A local commit came meanwhile.
    if (last <= this.#last || before !== this.#last) return;
    this.#last = last;
    this.#hub.notifyExternalCommit();
  }

  compose<T extends MessageType>(draft: Draft<T>): ComposedMessage {
    return compose(draft, this.now());
  }

  /** Commits, and publishes the events. @throws ArcpError `UNAVAILABLE`, retryable, if the store failed; then nothing was done */
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
    // Other runtimes committed in between; subscribers read all of it in order.
    if (isGap) this.#hub.notifyExternalCommit();
    const at = this.now();
    for (const [index, event] of (entry.events ?? []).entries())
      this.#hub.publish({ ...event, sequence: result.sequences[index]!, at });
    return result;
  }
}

export function unavailable(cause: unknown): ArcpError {
  if (cause instanceof ArcpError) return cause;
  const why = cause instanceof StoreError ? cause.reason : 'failed';
  return new ArcpError('UNAVAILABLE', 'Nothing can be kept at the moment', { details: { reason: why }, cause });
}
