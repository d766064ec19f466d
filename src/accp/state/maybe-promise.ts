/** Values that may come later: what is there at once is gone on with at once. */

export type MaybePromise<T> = T | Promise<T>;

/** `next(value)`, now or when the value is there. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/** What `attempt` gives, or, when it throws or rejects, what `instead` gives. */
export function recover<T>(attempt: () => MaybePromise<T>, instead: (error: unknown) => T): MaybePromise<T> {
  try {
    const value = attempt();
    return isPromise(value) ? Promise.resolve(value).catch(instead) : value;
  } catch (error) {
    return instead(error);
  }
}

function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Promise<T>>).then === 'function';
}
