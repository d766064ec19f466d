/** One after the other: the frames of a session are numbered, so they have to go out in the order in which they were made. */

import { Fifo } from '../../channels/fifo.js';

const NOTHING = (): void => undefined;

/** Turns at something that only one may do at a time, in the order in which they were asked for. */
export class Turns {
  #isTaken = false;
  readonly #waiting = new Fifo<() => void>();

  /** @returns ends the turn, once it has begun */
  take(): Promise<() => void> | (() => void) {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return this.#turn();
    }
    return new Promise((begin) => {
      this.#waiting.push(() => begin(this.#turn()));
    });
  }

  #turn(): () => void {
    let end = (): void => {
      end = NOTHING;
      if (this.#waiting.size === 0) this.#isTaken = false;
      else this.#waiting.take()();
    };
    return () => end();
  }
}
