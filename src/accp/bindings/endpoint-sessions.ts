import { type LinkedSignal, linkSignals } from '../../async/abort.js';
import { assertDurations } from '../../async/durations.js';
import { AccpError } from '../errors.js';
import type { Message } from '../message/message.js';
import { createSession, partsOfSession, type Session } from '../session/session.js';
import type { EndpointOptions } from './endpoint-options.js';

interface SessionEntry {
  readonly session: Session;
  /** Milliseconds of the monotonic clock. */
  usedAt: number;
  uses: number;
}

type SessionsOptions = Pick<EndpointOptions, 'agent' | 'session' | 'maxSessions' | 'idleTimeoutMs'>;

export class EndpointSessions {
  readonly #options: SessionsOptions;
  readonly #max: number;
  readonly #idleTimeoutMs: number;
  readonly #entries = new Map<string, SessionEntry>();
  /** The requests of stored sessions that were pending when the process ended. */
  readonly #interrupted = new WeakMap<Session, readonly Message[]>();
  #isClosed = false;

  constructor(options: SessionsOptions) {
    const { maxSessions = 1024, idleTimeoutMs = 3_600_000 } = options;
    if (!(maxSessions >= 1)) throw new TypeError(`maxSessions must be a number >= 1; got ${maxSessions}`);
    assertDurations({ idleTimeoutMs });
    this.#options = options;
    this.#max = maxSessions;
    this.#idleTimeoutMs = idleTimeoutMs;
  }

  open(sid?: string): Session {
    if (this.#isClosed) throw new TypeError('The endpoint is closed');
    this.#closeIdle();
    const existing = sid === undefined ? undefined : this.#entries.get(sid);
    if (existing !== undefined) {
      this.#touch(existing);
      return existing.session;
    }
    const { agent, session: options } = this.#options;
    const session = createSession({ ...options, agent, id: sid, sequence: 'sender' });
    // Requests that the host answers later are not interrupted.
    const interrupted = session.pendingRequests.filter(({ isDeferred }) => !isDeferred).map(({ message }) => message);
    if (interrupted.length > 0) this.#interrupted.set(session, interrupted);
    this.#entries.set(session.id, { session, usedAt: performance.now(), uses: 0 });
    this.#closeExcess(session);
    return session;
  }

  find(sid: string): Session | undefined {
    return this.#entries.get(sid)?.session;
  }

  /** Returns the interrupted requests of a session that are still pending; only the first call returns them. */
  takeInterrupted(session: Session): readonly Message[] {
    const interrupted = this.#interrupted.get(session);
    if (interrupted === undefined) return [];
    this.#interrupted.delete(session);
    const { chains } = partsOfSession(session);
    return interrupted.filter(({ envelope }) =>
      chains.isPending(envelope.correlation_id ?? envelope.msg_id, envelope.msg_id),
    );
  }

  /** Marks a session as busy. @returns a function that ends this */
  use(session: Session): () => void {
    const entry = this.#entries.get(session.id);
    // The session may have been closed and opened again.
    if (entry?.session !== session) return () => undefined;
    entry.uses++;
    this.#touch(entry);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      entry.uses--;
      if (this.#entries.get(session.id) === entry) this.#touch(entry);
    };
  }

  /** Closes a session. Opened again, it continues from its stored state. */
  drop(session: Session): void {
    if (this.#entries.get(session.id)?.session === session) this.#entries.delete(session.id);
    session.close();
  }

  close(): void {
    this.#isClosed = true;
    const all = [...this.#entries.values()];
    this.#entries.clear();
    for (const { session } of all) session.close();
  }

  #touch(entry: SessionEntry): void {
    entry.usedAt = performance.now();
    const { id } = entry.session;
    this.#entries.delete(id);
    this.#entries.set(id, entry);
  }

  #closeIdle(): void {
    const limit = performance.now() - this.#idleTimeoutMs;
    for (const { session, usedAt, uses } of this.#entries.values()) {
      if (usedAt > limit) return;
      if (uses === 0) this.drop(session);
    }
  }

  /** @param opened the session that was just opened, which comes last */
  #closeExcess(opened: Session): void {
    for (const { session, uses } of this.#entries.values()) {
      if (this.#entries.size <= this.#max || session === opened) return;
      if (uses === 0) this.drop(session);
    }
  }
}

/** The maximum number of disconnected sessions that are remembered. */
const MAX_DISCONNECTED = 10_000;

export const DISCONNECTED = 'The session was disconnected.';

export class DisconnectedSessions {
  readonly #reasons = new Map<string, string>();
  /** Not `AbortSignal`s: they warn of many listeners, and a session may have many. */
  readonly #listeners = new WeakMap<Session, Set<() => void>>();

  /** Disconnects a session. @returns `false` if it was disconnected before */
  add(session: Session, reason: string): boolean {
    if (this.#reasons.has(session.id)) return false;
    this.#reasons.set(session.id, reason);
    if (this.#reasons.size > MAX_DISCONNECTED) this.#reasons.delete(this.#reasons.keys().next().value!);
    for (const listener of [...(this.#listeners.get(session) ?? [])]) listener();
    return true;
  }

  reason(sid: string): string | undefined {
    return this.#reasons.get(sid);
  }

  /** @returns a function that removes the listener */
  listen(session: Session, listener: () => void): () => void {
    const listeners = this.#listeners.get(session) ?? new Set();
    this.#listeners.set(session, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Derives a signal that is also aborted, with E5001, when the session is disconnected. */
  link(session: Session, signal: AbortSignal): LinkedSignal {
    const controller = new AbortController();
    const linked = linkSignals(signal, controller.signal);
    const removeListener = this.listen(session, () =>
      controller.abort(new AccpError({ code: 'E5001', message: DISCONNECTED })),
    );
    const release = (): void => {
      linked.release();
      removeListener();
    };
    return { signal: linked.signal, release };
  }
}
