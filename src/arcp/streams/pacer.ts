/** How fast somebody may send (spec 003, "Streams": "Senders SHOULD slow or batch stream.chunk events after receiving backpressure"). */
import { LONGEST_TIMER } from '../../async/timers.js';
import type { PayloadOf } from '../protocol/catalogue.js';

/** What a receiver has said last; it holds until it says something else. */
export interface Pace {
  /** Chunks a second; 0 is a pause. */
  readonly rate: number;
  /** Most bytes of one chunk. */
  readonly maxBytes: number;
}

export const UNBOUNDED: Pace = { rate: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

/** What a message asks for. A receiver without room is a pause. */
export function paceOf({
  desired_rate_per_second: rate,
  buffer_remaining_bytes: room,
}: PayloadOf<'backpressure'>): Pace {
  if (room === 0) return { rate: 0, maxBytes: Number.POSITIVE_INFINITY };
  return { rate: rate ?? Number.POSITIVE_INFINITY, maxBytes: room ?? Number.POSITIVE_INFINITY };
}

/** Lets chunks through one by one, at the pace of the slowest of those who have a say. */
export class Pacer {
  readonly #paces = new Map<string, Pace>();
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;
  #later: ReturnType<typeof setTimeout> | undefined;
  #isReleased = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param who the stream itself, or its session */
  set(who: string, pace: Pace): void {
    this.#paces.set(who, pace);
    this.#again();
  }

  /** They have no say any more. */
  unset(who: readonly string[]): void {
    for (const one of who) this.#paces.delete(one);
    this.#again();
  }

  /** There is no pace any more. */
  release(): void {
    this.#isReleased = true;
    this.#again();
  }

  get maxBytes(): number {
    return Math.min(UNBOUNDED.maxBytes, ...[...this.#paces.values()].map(({ maxBytes }) => maxBytes));
  }

  /** Resolves when the next chunk may go. To be waited for by one at a time. */
  async turn(signal: AbortSignal): Promise<void> {
    for (let wait = this.#wait(); wait > 0; wait = this.#wait()) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', this.#again, { once: true });
        if (Number.isFinite(wait)) this.#later = setTimeout(this.#again, Math.min(LONGEST_TIMER, wait));
      });
      signal.removeEventListener('abort', this.#again);
    }
    this.#last = this.#now();
  }

  readonly #again = (): void => {
    clearTimeout(this.#later);
    this.#wake?.();
    this.#wake = undefined;
  };

  /** @returns milliseconds; infinite in a pause */
  #wait(): number {
    const rate = Math.min(UNBOUNDED.rate, ...[...this.#paces.values()].map(({ rate: wanted }) => wanted));
    if (rate === Number.POSITIVE_INFINITY || this.#isReleased) return 0;
    return rate === 0 ? Number.POSITIVE_INFINITY : this.#last + 1000 / rate - this.#now();
  }
}
