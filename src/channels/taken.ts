/** Whether what was sent has been taken by the transport. */
import type { Channel } from './channel.js';
import { Fifo } from './fifo.js';

/** Resolves when the channel's transport has taken what was sent until now; `false` where it broke first. */
export async function taken(channel: Channel): Promise<boolean> {
  if (channel.taken !== undefined) return channel.taken();
  await channel.ready();
  return true;
}

/** Counts what a transport is given and what it confirms, in order, for those who wait. */
export class Confirmations {
  #given = 0;
  #taken = 0;
  #isBroken = false;
  readonly #waiting = new Fifo<{ readonly upTo: number; readonly settle: (isTaken: boolean) => void }>();

  /** One more was sent. */
  sent(): void {
    this.#given++;
  }

  /** Returns what the transport calls when it has taken all that was sent until now, or has failed to. */
  confirmation(): (error?: Error | null) => void {
    const upTo = this.#given;
    return (error) => {
      if (error !== undefined && error !== null) this.break();
      this.#taken = Math.max(this.#taken, upTo);
      while (this.#waiting.size > 0 && this.#waiting.first!.upTo <= upTo) this.#waiting.take().settle(true);
    };
  }

  /** The transport takes nothing more. */
  break(): void {
    this.#isBroken = true;
    while (this.#waiting.size > 0) this.#waiting.take().settle(false);
  }

  wait(): Promise<boolean> {
    if (this.#isBroken || this.#taken === this.#given) return Promise.resolve(!this.#isBroken);
    return new Promise((settle) => this.#waiting.push({ upTo: this.#given, settle }));
  }
}
