/** Calls and promises whose failure must not reach the caller. */
import { isThenable } from '../text/guards.js';

/** Calls a listener of the host. What it throws, or rejects with, is ignored: a listener must not end a connection or the process. */
export function notifyListener(call: () => unknown): void {
  try {
    const result = call();
    if (isThenable(result)) result.then(undefined, () => undefined);
  } catch {
    // The listener's own failure.
  }
}

/** Returns the same promise, whose rejection ends nothing where nobody waits for it. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** Returns a function whose promises may reject without a listener, as with {@link ignoreRejection}. */
export function ignoringRejections<A extends readonly unknown[], R>(
  call: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return (...args) => ignoreRejection(call(...args));
}

/** A promise with its resolvers; its rejection ends nothing where nobody waits for it. */
interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise: ignoreRejection(promise), resolve, reject };
}
