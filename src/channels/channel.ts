/**
 * The base of a connection. A custom transport is an object of this shape, set up in its own way; the connection handles everything else,
 * batches included. Both sides exchange texts, each of which is one JSON document: a message or a batch. A transport keeps their order
 * and their borders, loses none, and reports when the other side has ended.
 *
 * Source: ACP, transports, "Custom Transports".
 */
import { Queue } from '../async/queue.js';

/** Characters or bytes of an unreadable text that are kept: enough for the identifiers at its beginning. */
export const BEGINNING = 4096;

/** The listener of a channel. */
export interface Receiver {
  /**
   * One JSON document as text, without the line end.
   *
   * @param isUnended nothing follows, not even its own line end, so that it may have been cut off: `ended` comes next
   */
  readonly text: (text: string, isUnended?: boolean) => void;
  /**
   * Something arrived that is not text; the channel goes on.
   *
   * @param beginning its first characters, at most {@link BEGINNING}, as far as they can be read: a refusal names the identifier in them
   */
  readonly invalid: (why: string, beginning?: string) => void;
  /** A text is longer than the limit. The following bytes cannot be split into texts: `ended` comes next. */
  readonly tooLong: (limit: number, beginning?: string) => void;
  /** Nothing more arrives: the other side has ended, or `error` broke the channel. Called once. */
  readonly ended: (error?: Error) => void;
}

export interface Channel {
  /** Limit of a text that this end reads, in bytes of UTF-8; `undefined` if the channel has no limit of its own. */
  readonly maxTextBytes?: number | undefined;
  /** Called once, before anything else. What has arrived before is passed on then. */
  readonly start: (receiver: Receiver) => void;
  /** Sends one JSON document, in order. It never throws: a broken channel calls `ended`. */
  readonly send: (text: string) => void;
  /** Resolves when the transport can take more, or it broke; `undefined` when it can at once. */
  readonly ready: () => Promise<void> | undefined;
  /**
   * Resolves with `true` when the transport has taken all that was sent, and with `false` when it broke or ended first. A channel without it takes
   * everything.
   */
  readonly flushed?: (() => Promise<boolean>) | undefined;
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

/** Resolves when the transport has taken all that was sent; `false` if it broke first. */
export async function flushed(channel: Channel): Promise<boolean> {
  if (channel.flushed !== undefined) return channel.flushed();
  await channel.ready();
  return true;
}

/** Counts the writes to a transport and their confirmations, in order. */
export class WriteConfirmations {
  #given = 0;
  #taken = 0;
  #isBroken = false;
  readonly #waiting = new Queue<{ readonly upTo: number; readonly settle: (isTaken: boolean) => void }>();

  sent(): void {
    this.#given++;
  }

  /** Returns a callback for the transport, for all that was sent until now. */
  confirmation(): (error?: Error | null) => void {
    const upTo = this.#given;
    return (error) => {
      if (error !== undefined && error !== null) this.break();
      this.#taken = Math.max(this.#taken, upTo);
      while (this.#waiting.size > 0 && this.#waiting.first!.upTo <= upTo) this.#waiting.take().settle(true);
    };
  }

  break(): void {
    this.#isBroken = true;
    while (this.#waiting.size > 0) this.#waiting.take().settle(false);
  }

  wait(): Promise<boolean> {
    if (this.#isBroken || this.#taken === this.#given) return Promise.resolve(!this.#isBroken);
    return new Promise((settle) => this.#waiting.push({ upTo: this.#given, settle }));
  }
}
