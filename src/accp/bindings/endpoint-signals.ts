/** Work that ends early: for whichever of two reasons comes first. */

export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Lets go of the signals that it was made of. */
  readonly release: () => void;
}

/** A signal that is aborted with the first of two. `AbortSignal.any` is no way to have one: Node 20 may collect what it gives. */
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
