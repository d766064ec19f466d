/** Operations that end when a signal is aborted or a timeout passes. */
import { after } from './timers.js';

/** A signal that follows two others. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Removes the listeners from both source signals. */
  readonly release: () => void;
}

/** An abort controller that creates its signal when it is first read: most operations end without, and creating one takes microseconds. */
export class LazyAbort {
  #controller: AbortController | undefined;
  #cause: { readonly reason: unknown } | undefined;

  /** The signal. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cause !== undefined) this.#controller.abort(this.#cause.reason);
    }
    return this.#controller.signal;
  }

  /** The reason of the first call of {@link abort}. */
  get reason(): unknown {
    return this.#cause?.reason;
  }

  /** Aborts the signal. Later calls have no effect. */
  abort(reason: unknown): void {
    this.#cause ??= { reason };
    this.#controller?.abort(reason);
  }

  /** @throws the reason if the signal is aborted */
  throwIfAborted(): void {
    if (this.#cause !== undefined) throw this.#cause.reason;
  }
}

/**
 * Waits for a promise until a signal is aborted.
 *
 * @throws the reason of the signal
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

/**
 * Waits for a promise to fulfil, at most `timeoutMs` milliseconds.
 *
 * @returns `true` if the promise fulfilled in time
 */
export async function within(timeoutMs: number, promise: Promise<unknown>, timer = after): Promise<boolean> {
  let cancel!: () => void;
  const timeout = new Promise<boolean>((resolve) => {
    cancel = timer(timeoutMs, () => resolve(false));
  });
  try {
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    cancel();
  }
}

/**
 * Returns the body of a response of `fetch`, which fails with the reason of the signal of the request. The `fetch` of Node 20 forgets the signal
 * when its request is garbage-collected, even if the body is still being read.
 */
export function abortableBody<Body extends ReadableStream<Uint8Array> | null>(
  body: Body,
  signal: AbortSignal | null | undefined,
): Body {
  if (body === null || signal === null || signal === undefined) return body;
  return body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal }) as Body;
}

/** Creates a signal that is aborted with the first of two others. Unlike with `AbortSignal.any`, Node 20 does not collect it too early. */
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
 * Iterates over a source until it ends or the signal is aborted, even if the source ignores the signal. Calls `return` of a source that
 * is not read to its end.
 *
 * @param failed called with the error if `return` rejects
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
        // A source that throws has ended, too.
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
    // Not awaited: a busy source handles `return` only after its current step.
    if (!isOver) returnEarly(iterator).catch(failed);
  }
}

async function returnEarly(iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.();
}

/**
 * Calls a function with a signal that is aborted with the given one, or after a timeout with an error named `TimeoutError`. Its timer, unlike
 * that of `AbortSignal.timeout`, keeps the process alive.
 *
 * @throws the error of the function
 */
export async function withTimeout<T>(
  signal: AbortSignal,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const error = Object.assign(new Error(`The operation timed out after ${timeoutMs} ms.`), { name: 'TimeoutError' });
  const cancel = after(timeoutMs, () => timeout.abort(error));
  const linked = linkSignals(signal, timeout.signal);
  try {
    return await run(linked.signal);
  } finally {
    cancel();
    linked.release();
  }
}
