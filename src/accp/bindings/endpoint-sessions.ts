import { type LinkedSignal, linkSignals } from '../../async/abort.js';
import { AccpError } from '../errors.js';
import type { Message } from '../message/message.js';
import { createSession, partsOfSession, type Session } from '../session/session.js';
import type { EndpointOptions } from './endpoint-options.js';

interface Held {
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
  readonly #held = new Map<string, Held>();
  /** The pending requests of stored sessions. */
  readonly #interrupted = new WeakMap<Session, readonly Message[]>();
  #isClosed = false;

  constructor(options: SessionsOptions) {
    const { maxSessions = 1024, idleTimeoutMs = 3_600_000 } = options;
    if (!(maxSessions >= 1)) throw new TypeError(`maxSessions must be a number >= 1; got ${maxSessions}`);
    if (!(idleTimeoutMs > 0))
      throw new TypeError(`idleTimeoutMs must be a positive number of milliseconds or Infinity; got ${idleTimeoutMs}`);
    this.#options = options;
    this.#max = maxSessions;
    this.#idleTimeoutMs = idleTimeoutMs;
  }

  open(sid?: string): Session {
    if (this.#isClosed) throw new TypeError('The endpoint is closed');
    this.#closeIdle();
    const known = sid === undefined ? undefined : this.#held.get(sid);
    if (known !== undefined) {
      this.#touch(known);
      return known.session;
    }
    const { agent, session: options } = this.#options;
    const session = createSession({ ...options, agent, id: sid, sequence: 'sender' });
    // Requests that the host answers later are not interrupted.
    const interrupted = session.pendingRequests.filter(({ isDeferred }) => !isDeferred).map(({ message }) => message);
    if (interrupted.length > 0) this.#interrupted.set(session, interrupted);
    this.#held.set(session.id, { session, usedAt: performance.now(), uses: 0 });
    this.#closeSurplus(session);
    return session;
  }

  find(sid: string): Session | undefined {
    return this.#held.get(sid)?.session;
  }

  /** Returns once the stored requests of a session that are still pending. */
  takeInterrupted(session: Session): readonly Message[] {
    const interrupted = this.#interrupted.get(session);
    if (interrupted === undefined) return [];
    this.#interrupted.delete(session);
    const { chains } = partsOfSession(session);
    return interrupted.filter(({ envelope }) =>
      chains.isPending(envelope.correlation_id ?? envelope.msg_id, envelope.msg_id),
    );
  }

  /** Marks the session as busy. @returns ends that */
  use(session: Session): () => void {
    const held = this.#held.get(session.id);
    // The session may have been closed, and opened anew.
    if (held?.session !== session) return () => undefined;
    held.uses++;
    this.#touch(held);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      held.uses--;
      if (this.#held.get(session.id) === held) this.#touch(held);
    };
  }

  /** Closes a session whose store has failed: opened anew, it goes on from what was stored. */
  drop(session: Session): void {
    if (this.#held.get(session.id)?.session === session) this.#held.delete(session.id);
    session.close();
  }

  close(): void {
    this.#isClosed = true;
    const all = [...this.#held.values()];
    this.#held.clear();
    for (const { session } of all) session.close();
  }

  #touch(held: Held): void {
    held.usedAt = performance.now();
    const { id } = held.session;
    this.#held.delete(id);
    this.#held.set(id, held);
  }

  #closeIdle(): void {
    const limit = performance.now() - this.#idleTimeoutMs;
    for (const { session, usedAt, uses } of this.#held.values()) {
      if (usedAt > limit) return;
      if (uses === 0) this.drop(session);
    }
  }

  /** @param opened the session that was just opened, which is the last one */
  #closeSurplus(opened: Session): void {
    for (const { session, uses } of this.#held.values()) {
      if (this.#held.size <= this.#max || session === opened) return;
      if (uses === 0) this.drop(session);
    }
  }
}

const MAX = 10_000;

export const DISCONNECTED = 'The session was disconnected.';

export class PutOut {
  readonly #reasons = new Map<string, string>();
  /** No `AbortSignal`: it warns of many listeners, and a session may have much under way. */
  readonly #listeners = new WeakMap<Session, Set<() => void>>();

  /** @returns `false` if it was disconnected already */
  add(session: Session, reason: string): boolean {
    if (this.#reasons.has(session.id)) return false;
    this.#reasons.set(session.id, reason);
    if (this.#reasons.size > MAX) this.#reasons.delete(this.#reasons.keys().next().value!);
    for (const listener of [...(this.#listeners.get(session) ?? [])]) listener();
    return true;
  }

  reason(sid: string): string | undefined {
    return this.#reasons.get(sid);
  }

  /** @returns removes the listener */
  listen(session: Session, listener: () => void): () => void {
    const listeners = this.#listeners.get(session) ?? new Set();
    this.#listeners.set(session, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** Links a signal, so that it is aborted with E5001 when the session is disconnected. */
  link(session: Session, signal: AbortSignal): LinkedSignal {
    const out = new AbortController();
    const linked = linkSignals(signal, out.signal);
    const forget = this.listen(session, () => out.abort(new AccpError({ code: 'E5001', message: DISCONNECTED })));
    const release = (): void => {
      linked.release();
      forget();
    };
    return { signal: linked.signal, release };
  }
}
