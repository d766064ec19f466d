/**
 * The transport below a connection. A custom transport implements `Channel`; the connection handles everything else, including batches.
 * Both sides exchange texts, each of which is one JSON document: a message or a batch. A transport preserves their order and boundaries,
 * loses none of them, and reports the end of the other side.
 *
 * Source: ACP, transports, "Custom Transports".
 */
import { within } from '../async/abort.js';
import { Queue } from '../async/queue.js';

/** The maximum length of the beginning of an unreadable text that is passed on: enough for the identifiers in it. */
export const BEGINNING = 4096;

/** The receiving side of a channel's user. */
export interface Receiver {
  /**
   * Receives one JSON document as text, without the line end.
   *
   * @param isUnterminated `true` if the input ended without a line end, so the text may be truncated; `ended` follows
   */
  readonly text: (text: string, isUnterminated?: boolean) => void;
  /**
   * Receives input that is not text. The channel stays open.
   *
   * @param reason the problem, as a clause
   * @param beginning the first characters of the input, at most 4096, if they are readable; error responses use the identifier in them
   */
  readonly invalid: (reason: string, beginning?: string) => void;
  /** Receives the beginning of a text that exceeds the limit. The bytes after it cannot be split into texts; `ended` follows. */
  readonly tooLong: (limit: number, beginning?: string) => void;
  /** Reports the end of the input: the other side ended it, or `error` broke the channel. Called once. */
  readonly ended: (error?: Error) => void;
}

/** A bidirectional transport of texts. */
export interface Channel {
  /** The maximum length of a text that this end reads, in bytes of UTF-8; `undefined` if the channel has no limit of its own. */
  readonly maxTextBytes?: number | undefined;
  /** Starts delivery to a receiver, including everything that arrived before. Called once, before any other method. */
  readonly start: (receiver: Receiver) => void;
  /** Sends one JSON document, in order. Does not throw: a broken channel calls `ended`. */
  readonly send: (text: string) => void;
  /** Resolves when the transport accepts more data, or is broken; returns `undefined` if it accepts more now. */
  readonly ready: () => Promise<void> | undefined;
  /**
   * Resolves with `true` when the transport has accepted everything sent so far, and with `false` if it broke or ended first. A channel
   * without this method accepts everything.
   */
  readonly flushed?: (() => Promise<boolean>) | undefined;
  /** Returns the amount of data that was sent and is not yet accepted, in bytes of UTF-8 or, approximately, in characters. */
  readonly backlog: () => number;
  /** Stops the delivery of texts, so that a slow receiver does not buffer them. */
  readonly pause: () => void;
  /** Restarts the delivery of texts. */
  readonly resume: () => void;
  /** Ends the output. Resolves when everything is accepted, or the channel is broken. */
  readonly end: () => Promise<void>;
  /** Closes the channel and discards all buffered data. */
  readonly destroy: () => void;
}

/**
 * Ends the output of a channel. Resolves when everything is accepted, or when the other side accepts nothing for some time.
 *
 * @param stallMs milliseconds without progress
 */
export async function endWithoutStall(channel: Channel, stallMs: number): Promise<void> {
  const ended = channel.end();
  for (let before = channel.backlog(); !(await within(stallMs, ended)); ) {
    const now = channel.backlog();
    if (now >= before) return;
    before = now;
  }
}

/** Resolves with `true` when the transport has accepted everything sent so far, and with `false` if it broke first. */
export async function flushed(channel: Channel): Promise<boolean> {
  if (channel.flushed !== undefined) return channel.flushed();
  await channel.ready();
  return true;
}

/** Counts writes to a transport and their confirmations, in order. */
export class WriteConfirmations {
  #sent = 0;
  #confirmed = 0;
  #isBroken = false;
  readonly #waiting = new Queue<{ readonly upTo: number; readonly settle: (isConfirmed: boolean) => void }>();

  /** Counts one write. */
  sent(): void {
    this.#sent++;
  }

  /** Returns the callback with which the transport confirms everything sent so far, except the last `unwritten` writes. */
  confirmation(unwritten = 0): (error?: Error | null) => void {
    const upTo = this.#sent - unwritten;
    return (error) => {
      if (error !== undefined && error !== null) this.break();
      this.#confirmed = Math.max(this.#confirmed, upTo);
      while (this.#waiting.size > 0 && this.#waiting.first!.upTo <= upTo) this.#waiting.take().settle(true);
    };
  }

  /** Fails all waiters, now and later. */
  break(): void {
    this.#isBroken = true;
    while (this.#waiting.size > 0) this.#waiting.take().settle(false);
  }

  /** Resolves with `true` when everything sent so far is confirmed, and with `false` if the transport broke first. */
  wait(): Promise<boolean> {
    if (this.#isBroken || this.#confirmed === this.#sent) return Promise.resolve(!this.#isBroken);
    return new Promise((settle) => this.#waiting.push({ upTo: this.#sent, settle }));
  }
}
