/** Requests whose answers are to come, where answers come at any time. */

import { isUpkeep } from '../../accp/bindings/frames.js';
import type { Message } from '../../accp/message/message.js';
import { after } from '../../async/timers.js';

/** Intents that end a chain of requests (draft-benzing-accp-00, Table 7). */
const ENDS: ReadonlySet<string> = new Set(['done', 'end', 'fail', 'cancel']);

export class Outstanding {
  /** Correlation identifiers, by the identifiers of the messages. */
  readonly #open = new Map<string, string>();
  #heard: () => void = () => {};
  #stop: () => void = () => {};

  asked(msgId: string, correlationId: string): void {
    this.#open.set(msgId, correlationId);
  }

  /** It was not sent. */
  forget(msgId: string): void {
    this.#open.delete(msgId);
  }

  /** A frame came. What is no message may still be one of those that are waited for: the wait begins anew. */
  heard(message: Message | null): void {
    if (message !== null && ENDS.has(message.intent) && !isUpkeep(message)) this.#settle(message);
    this.#heard();
  }

  #settle({ envelope: { correlation_id: cid, causation_id: aid } }: Message): void {
    for (const [msgId, correlationId] of this.#open)
      if (correlationId === cid || (cid === undefined && msgId === aid)) this.#open.delete(msgId);
  }

  /**
   * Waits until all have been answered.
   *
   * @param seconds without a frame, after which no more is waited
   * @returns how many were not
   */
  async wait(seconds: number): Promise<number> {
    while (this.#open.size > 0) if (!(await this.#next(seconds))) break;
    return this.#open.size;
  }

  /** Nobody waits any more: a timer would keep the process. */
  stop(): void {
    this.#stop();
  }

  /** @returns whether a frame came in time */
  #next(seconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#stop = after(seconds * 1000, () => resolve(false));
      this.#heard = () => {
        this.#stop();
        resolve(true);
      };
    });
  }
}
