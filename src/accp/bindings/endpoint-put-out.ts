/** Sessions that were disconnected: who comes with one of them is refused. */
import { type LinkedSignal, linkSignals } from '../../async/abort.js';
import { AccpError } from '../errors.js';
import type { Session } from '../session/session.js';

/** Sessions that are remembered. */
const MAX = 10_000;

/** What whoever comes with such a session is told. */
export const DISCONNECTED = 'The session was disconnected.';

export class PutOut {
  /** By their ids, the oldest first. */
  readonly #reasons = new Map<string, string>();
  /** What is told when a session is put out. No `AbortSignal`: it warns of many listeners, and a session may have much under way. */
  readonly #listeners = new WeakMap<Session, Set<() => void>>();

  /** @returns `false` where it was out already */
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

  /** @returns takes the listener away */
  listen(session: Session, listener: () => void): () => void {
    let listeners = this.#listeners.get(session);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(session, listeners);
    }
    const all = listeners.add(listener);
    return () => void all.delete(listener);
  }

  /** A signal that is aborted with another one, and with E5001 when the session is put out. */
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
