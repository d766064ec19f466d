/** Work that ends when a signal is aborted, or its time is up. */
import { after } from './timers.js';

export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Lets go of the signals that it was made of. */
  readonly release: () => void;
}

/**
 * Returns a promise that settles as the given one, and rejects as soon as the signal is aborted.
 *
 * @throws what the signal is aborted with
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => {});
  signal.throwIfAborted();
  let abort!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
  });
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Waits for a promise to fulfil, but no longer than so many milliseconds. @returns whether it was in time */
export async function within(ms: number, promise: Promise<unknown>, timer = after): Promise<boolean> {
  let cancel!: () => void;
  const late = new Promise<boolean>((resolve) => {
    cancel = timer(ms, () => resolve(false));
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    cancel();
  }
}

/** Makes a signal that is aborted with the first of two. `AbortSignal.any` is no way to have one: Node 20 may collect what it gives. */
export function linkSignals(one: AbortSignal, other: AbortSignal): LinkedSignal {
  const controller = new AbortController();
  const release = (): void => {
    one.removeEventListener('abort', abort);
    other.removeEventListener('abort', abort);
  };
  const abort = (): void => {
    release();
    controller.abort(one.aborted ? one.reason : other.reason);
  };
  if (one.aborted || other.aborted) abort();
  else {
    one.addEventListener('abort', abort);
    other.addEventListener('abort', abort);
  }
  return { signal: controller.signal, release };
}

/**
 * What a source gives until it ends, or until the signal is aborted, even if the source does not heed that. A source that is not
 * read to its end is told so.
 *
 * @param failed told what a source throws that is told to end
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
  failed: (thrown: unknown) => void,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let stop: () => void = () => undefined;
  const abort = (): void => stop();
  signal.addEventListener('abort', abort);
  let isOver = false;
  try {
    while (!signal.aborted) {
      const result = await new Promise<IteratorResult<T> | null>((resolve, reject) => {
        stop = () => resolve(null);
        // It is over when it throws, too.
        iterator.next().then(resolve, (thrown: unknown) => {
          isOver = true;
          reject(thrown);
        });
      });
      if (result === null) return;
      if (result.done === true) {
        isOver = true;
        return;
      }
      yield result.value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    // Not waited for: a source at work takes notice when it has finished its step.
    if (!isOver) leave(iterator).catch(failed);
  }
}

async function leave(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}

/**
 * Does something with a signal that fires with the given one, and when time is up: then with a reason named `TimeoutError`.
 *
 * With a timer of its own: `AbortSignal.timeout` does not keep a process alive that has nothing else to do.
 *
 * @throws what the work throws
 */
export async function withTimeout<T>(
  signal: AbortSignal,
  milliseconds: number,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const error = Object.assign(new Error(`Not done in ${milliseconds} milliseconds.`), { name: 'TimeoutError' });
  const cancel = after(milliseconds, () => late.abort(error));
  const limited = linkSignals(signal, late.signal);
  try {
    return await work(limited.signal);
  } finally {
    cancel();
    limited.release();
  }
}
