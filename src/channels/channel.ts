/**
 * What a connection stands on. A custom transport is an object of this shape; everything else, batches included, is the
 * connection's business.
 *
 * How a transport is set up is its own affair: a pipe exists from the start, a socket is connected first. From then on both
 * sides exchange texts, each of which is one JSON document: a message or a batch. A transport keeps their order and their
 * borders, loses none, and says when the other side has ended.
 *
 * Source: ACP, transports, "Custom Transports".
 */
import { Queue } from '../async/queue.js';

/** Most characters, or bytes, of a text that is refused without being read: enough for the identifiers at its beginning. */
export const BEGINNING = 4096;

/** Whom a channel tells what arrives. */
export interface Receiver {
  /**
   * One JSON document as text, without the line end.
   *
   * @param isUnended nothing follows, not even its own line end, so that it may have been cut off: `ended` comes next
   */
  readonly text: (text: string, isUnended?: boolean) => void;
  /**
   * Something arrived that is no text; the channel goes on. `why` says what it was.
   *
   * @param beginning its first characters, at most {@link BEGINNING}, as far as they can be read: a refusal names the identifier in them
   */
  readonly garbage: (why: string, beginning?: string) => void;
  /**
   * A text is longer than the channel takes. What follows cannot be told apart any more: `ended` comes next.
   *
   * @param beginning as of `garbage`
   */
  readonly tooLong: (limit: number, beginning?: string) => void;
  /** Nothing more arrives: the other side has ended, or `error` broke the channel. Called once. */
  readonly ended: (error?: Error) => void;
}

export interface Channel {
  /** Most bytes of a text in UTF-8 that this end reads; `undefined` where the channel has no limit of its own. */
  readonly maxTextBytes?: number | undefined;
  /** Called once, before anything else. What arrived before is given then. */
  readonly start: (receiver: Receiver) => void;
  /** Sends one JSON document, in order. It never throws: a channel that broke says so by `ended`. */
  readonly send: (text: string) => void;
  /** Resolves when the transport can take more, or it broke; `undefined` when it can at once. */
  readonly ready: () => Promise<void> | undefined;
  /**
   * Resolves when the transport has taken what was sent until now, and with `false` when it broke or ended first. A channel without it takes
   * everything that is sent.
   */
  readonly taken?: (() => Promise<boolean>) | undefined;
  /** UTF-8 bytes, or about as many characters, that were sent and not yet taken. */
  readonly backlog: () => number;
  /** Stops and restarts `text`, so that a slow side does not pile up what arrives. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Nothing more will be sent: resolves when all has been taken, or the channel has broken. */
  readonly end: () => Promise<void>;
  /** Drops the channel with all that waits. */
  readonly destroy: () => void;
}

/** Resolves when the channel's transport has taken what was sent until now; `false` where it broke first. */
export async function taken(channel: Channel): Promise<boolean> {
  if (channel.taken !== undefined) return channel.taken();
  await channel.ready();
  return true;
}

/** Counts what a transport is given and what it confirms, in order, for those who wait. */
export class WriteConfirmations {
  #given = 0;
  #taken = 0;
  #isBroken = false;
  readonly #waiting = new Queue<{ readonly upTo: number; readonly settle: (isTaken: boolean) => void }>();

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
