/** How long is waited between attempts to make a connection anew. */
import { backoff, withJitter } from '../../../async/timers.js';
import type { ReconnectOptions } from './link-options.js';

export class Pacer {
  readonly #min: number;
  readonly #max: number;
  readonly #attempts: number;
  /** Attempts since a connection has stood for a while: one that ends as soon as it stands is no success. */
  #tries = 0;
  #openedAt = Number.NEGATIVE_INFINITY;
  #end: (() => void) | undefined;
  #timer: unknown;
  #isStopped = false;

  constructor({ min = 0.25, max = 15, attempts = Number.POSITIVE_INFINITY }: ReconnectOptions = {}) {
    this.#min = min;
    this.#max = max;
    this.#attempts = attempts;
  }

  opened(): void {
    this.#openedAt = performance.now();
  }

  /** Seconds before each attempt: they double up to the greatest, less a random part of up to a half. */
  *waits(): Generator<number, void, undefined> {
    if (performance.now() - this.#openedAt >= this.#max * 1000) this.#tries = 0;
    while (this.#tries < this.#attempts) {
      yield withJitter(backoff(++this.#tries, { min: this.#min, max: this.#max }));
    }
  }

  /** Resolves after so many seconds, or when it is stopped. */
  wait(seconds: number): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#end = resolve;
      this.#timer = setTimeout(resolve, seconds * 1000);
    });
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer as never);
    this.#end?.();
  }
}
