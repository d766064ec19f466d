/** A clock's hand for sessions: without one, nobody notices what does not come. */
import { type Overdue, partsOfSession, type Session } from './session.js';

export interface KeepTimeOptions {
  /** Seconds between two looks at the clock. @default 1, or the session's `timeout` where that is shorter */
  readonly every?: number | undefined;
  /** Told each answer that is overdue, once. */
  readonly overdue?: ((overdue: Overdue) => void) | undefined;
  /** Told what a look at the clock threw: the session's store failed. @default it is thrown, out of the timer */
  readonly failed?: ((thrown: unknown) => void) | undefined;
}

/**
 * Calls `session.tick()` again and again, so that overdue answers (E3001) and stalled streams show by themselves. In Node, it
 * does not keep the process alive.
 *
 * @returns stops it
 * @throws TypeError on a time that is none
 * @example
 * const stop = keepTime(session, { overdue: ({ correlationId }) => retry(correlationId) });
 */
export function keepTime(session: Session, options: KeepTimeOptions = {}): () => void {
  const { timeout } = partsOfSession(session).options;
  const { every = timeout > 0 ? Math.min(1, timeout) : 1, overdue, failed } = options;
  if (!(every > 0)) throw new TypeError(`every is a number of seconds above 0; got ${every}`);
  const handle: unknown = setInterval(() => {
    try {
      for (const late of session.tick()) overdue?.(late);
    } catch (thrown) {
      stop();
      if (failed === undefined) throw thrown;
      failed(thrown);
    }
  }, every * 1000);
  (handle as { readonly unref?: () => void }).unref?.();
  const stop = (): void => clearInterval(handle as never);
  return stop;
}
