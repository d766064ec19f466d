/** Failures that nobody waits for. */

/**
 * The same promise. Where nobody waits for it, its failure ends nothing: a tool that does not look whether something was kept must not end
 * the process in which others work.
 */
export function mayGoUnheard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** A function whose promises may go unheard. */
export function unheard<A extends readonly unknown[], R>(call: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
  return (...args) => mayGoUnheard(call(...args));
}
