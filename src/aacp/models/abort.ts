/** Giving up. */
import { ModelError } from './errors.js';

/** What a signal says: that time is up, or that nobody waits any longer. */
export function abortError({ reason }: AbortSignal): ModelError {
  const timedOut = (reason as { readonly name?: unknown } | null | undefined)?.name === 'TimeoutError';
  return timedOut
    ? new ModelError({ code: 'model-timeout', message: 'The model did not answer in time.' })
    : new ModelError({ code: 'model-aborted', message: 'The request was given up.' });
}

/**
 * Does something with a signal of its own, which fires with the given one, and settles when it fires: an SDK that waits for
 * its next try does not heed it. And an SDK may leave its listeners behind, which nobody notices on a signal of its own.
 */
export function unlessAborted<T>(signal: AbortSignal, work: (own: AbortSignal) => PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const abort = (): void => {
      controller.abort(signal.reason);
      reject(abortError(signal));
    };
    const settled = (): void => signal.removeEventListener('abort', abort);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve()
      .then(() => work(controller.signal))
      .then(
        (value) => {
          settled();
          resolve(value);
        },
        (thrown: unknown) => {
          settled();
          reject(thrown);
        },
      );
  });
}
