/** The consuming end of a stream: an iterator that asks, and is told when there may be an answer. */
import type { StreamChunk } from './chunk.js';

/** What there is for a reader. */
export type Step =
  | { readonly kind: 'chunk'; readonly chunk: StreamChunk }
  | { readonly kind: 'error'; readonly error: Error }
  | { readonly kind: 'done' };

export interface Reader {
  readonly chunks: AsyncIterableIterator<StreamChunk>;
  /** Whether a chunk is asked for. */
  readonly isWaiting: () => boolean;
  /** Has to be called when there may be a step for who waits. */
  readonly wake: () => void;
}

/** A call of `next` that waits. */
interface Waiting {
  readonly resolve: (result: IteratorResult<StreamChunk>) => void;
  readonly reject: (error: Error) => void;
}

const END: IteratorResult<StreamChunk> = { done: true, value: undefined };

/**
 * @param take the next step, or `null` when it has to be waited for; called once for each step that is handed over. Is told
 *   whether the reader asks, as opposed to somebody who has woken it. What it throws, who asks is told; nothing is over then
 * @param leave called when the loop over the chunks is left before its end
 */
export function createReader(take: (asked: boolean) => Step | null, leave: () => void): Reader {
  const waiting: Waiting[] = [];
  let over = false;

  function finish(): void {
    over = true;
    for (const { resolve } of waiting.splice(0)) resolve(END);
  }

  function hand(asked: boolean): void {
    while (waiting.length > 0) {
      const step = take(asked);
      if (step === null) return;
      // Out of the queue before anything else: what waits behind it ends with the stream.
      const { resolve, reject } = waiting.shift()!;
      if (step.kind === 'chunk') {
        resolve({ done: false, value: step.chunk });
        continue;
      }
      if (step.kind === 'error') reject(step.error);
      else resolve(END);
      finish();
    }
  }

  const chunks: AsyncIterableIterator<StreamChunk> = {
    next() {
      if (over) return Promise.resolve(END);
      return new Promise((resolve, reject) => {
        const call: Waiting = { resolve, reject };
        waiting.push(call);
        try {
          hand(true);
        } catch (thrown) {
          const at = waiting.indexOf(call);
          if (at >= 0) waiting.splice(at, 1);
          throw thrown;
        }
      });
    },
    async return() {
      if (!over) {
        finish();
        leave();
      }
      return END;
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return { chunks, isWaiting: () => waiting.length > 0, wake: () => hand(false) };
}
