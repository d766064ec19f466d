/** Calls and promises whose failures must not reach the caller. */
import { isThenable } from '../text/guards.js';

/** Calls a listener of the host and ignores its errors: a listener must not end a connection or the process. */
export function notifyListener(call: () => unknown): void {
  try {
    const result = call();
    if (isThenable(result)) result.then(undefined, () => undefined);
  } catch {
    // The listener's own error.
  }
}

/** Returns the same promise, without an unhandled rejection if nothing awaits it. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** Wraps a function so that {@link ignoreRejection} applies to its promises. */
export function ignoringRejections<A extends readonly unknown[], R>(
  call: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return (...args) => ignoreRejection(call(...args));
}

/** A promise with its resolvers, without an unhandled rejection if nothing awaits it. */
interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** Creates a promise that is settled from outside. */
export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise: ignoreRejection(promise), resolve, reject };
}
