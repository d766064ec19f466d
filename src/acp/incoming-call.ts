/** A call of the other side, as its handler sees it. */
import type { Id } from './message.js';

export class IncomingCall {
  readonly method: string;
  /** Absent for a notification, which is never answered. */
  readonly id: Id | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;
  #isCancelled = false;

  constructor(method: string, id: Id | undefined) {
    this.method = method;
    this.id = id;
  }

  /** Aborted when the caller does not want the answer any more, or the connection has broken. */
  get signal(): AbortSignal {
    // Most handlers never ask for it.
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isCancelled) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(reason: unknown): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
