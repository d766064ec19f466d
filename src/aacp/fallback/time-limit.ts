/** Work that may take so long, and no longer. */

/**
 * Does something with a signal that fires with the given one, and when time is up: then with a reason named `TimeoutError`.
 *
 * With a timer of its own: `AbortSignal.timeout` does not keep a process alive that has nothing else to do, and Node 20 forgets
 * what `AbortSignal.any` makes of it as soon as memory is cleaned up.
 *
 * @param milliseconds below 2^31
 * @throws what the work throws
 */
export async function withTimeLimit<T>(
  signal: AbortSignal,
  milliseconds: number,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  const timeUp = (): void =>
    controller.abort(Object.assign(new Error(`Not done in ${milliseconds} milliseconds.`), { name: 'TimeoutError' }));
  const timer = setTimeout(timeUp, milliseconds);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
