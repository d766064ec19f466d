/** The connection of a client: opened, watched, and made again. */
import { after, backoff, every, withJitter } from '../../async/timers.js';
import type { Channel } from '../../channels/channel.js';
import { systemReason } from '../../text/system-reason.js';
import { EnvelopeError, sketchOfText, tryParseEnvelope } from '../protocol/codec.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import type { Dial, ReconnectOptions } from './types.js';

export interface LinkOptions {
  readonly dial: Dial;
  /** Milliseconds of silence after which a connection is asked, and then given up, until its session is open. */
  readonly handshakeMs: number;
  /** Milliseconds for the first session to be open. */
  readonly openWithinMs: number;
  readonly reconnect: ReconnectOptions | false;
  /** Opens the session on a new connection: the first thing that is said there. */
  readonly opened: (send: (text: string) => void) => void;
  readonly onMessage: (message: Envelope) => void;
  /** A message that cannot be read. */
  readonly onUnreadable: (error: EnvelopeError) => void;
  /** The connection has ended, and another one is made. */
  readonly lost: (error: unknown) => void;
  /** There will be no connection any more. */
  readonly closed: (error: unknown) => void;
  /** Asks whether the other side is there. */
  readonly ask: () => void;
}

/** Bytes that may wait before those who send much wait, too. */
const HIGH_WATER_MARK = 1024 * 1024;
/** Questions that may stay without an answer before a connection is given up. */
const MISSED = 2;

export class Link {
  readonly #options: LinkOptions;
  #channel: Channel | undefined;
  #failures = 0;
  #isClosed = false;
  #missed = 0;
  #broken: EnvelopeError | undefined;
  #stopBeat: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;

  /** Why there is no connection. */
  #lastError: unknown;
  readonly #cancelTimeout: () => void;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#cancelTimeout = after(options.openWithinMs, () => this.#giveUp());
  }

  /** Makes the first connection, or the next. */
  async connect(): Promise<void> {
    const { dial, opened, handshakeMs } = this.#options;
    let channel: Channel;
    try {
      channel = await dial();
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (this.#isClosed) {
      channel.destroy();
      return;
    }
    this.#channel = channel;
    channel.start({
      text: (text) => this.#text(text),
      garbage: (why, beginning = '') => {
        const details = { sketch: sketchOfText(beginning), details: { reason: 'parse_error' } };
        const message = `What the runtime sent is no message: ${why}`;
        this.#options.onUnreadable(new EnvelopeError('INVALID_ARGUMENT', message, details));
      },
      // The runtime would send it again on the next connection.
      tooLong: (limit) =>
        void this.close(
          new ArcpError('PAYLOAD_TOO_LARGE', `The runtime sent a message of more than ${limit} bytes`, {
            details: { reason: 'too_long', max_message_bytes: limit },
          }),
        ),
      ended: (error) => this.#ended(channel, error),
    });
    this.#watch(handshakeMs);
    opened(this.send);
  }

  /** The session is open: the connection is a good one. @param heartbeatMs milliseconds of silence after which the other side is asked */
  sessionOpened(heartbeatMs: number): void {
    this.#failures = 0;
    this.#cancelTimeout();
    this.#watch(heartbeatMs);
  }

  readonly send = (text: string): void => {
    this.#channel?.send(text);
  };

  /** Most bytes of a message that can be read on this connection. */
  get maxTextBytes(): number | undefined {
    return this.#channel?.maxTextBytes;
  }

  /** Resolves when what was sent is on its way; `undefined` when little waits. */
  drained(): Promise<void> | undefined {
    const channel = this.#channel;
    return channel === undefined || channel.backlog() < HIGH_WATER_MARK ? undefined : channel.ready();
  }

  /** Drops the connection; another one is made. */
  drop(): void {
    this.#channel?.destroy();
  }

  async close(error?: unknown): Promise<void> {
    if (this.#isClosed) return;
    const channel = this.#leave();
    await channel?.end();
    channel?.destroy();
    this.#options.closed(error);
  }

  /** There was no session in all this time. Who does not answer does not say farewell either. */
  #giveUp(): void {
    if (this.#isClosed) return;
    const cause = this.#lastError;
    const why = cause === undefined ? '' : `: ${systemReason(cause)}`;
    const message = `There is no session after ${this.#options.openWithinMs} ms${why}`;
    this.#leave()?.destroy();
    this.#options.closed(new ArcpError('DEADLINE_EXCEEDED', message, { cause }));
  }

  /** @returns the connection that there was */
  #leave(): Channel | undefined {
    this.#isClosed = true;
    this.#cancelTimeout();
    this.#cancelRetry?.();
    this.#stopBeat?.();
    const channel = this.#channel;
    this.#channel = undefined;
    return channel;
  }

  #text(text: string): void {
    this.#missed = 0;
    this.#refuseBroken();
    const result = tryParseEnvelope(text, { maxMessageBytes: Number.POSITIVE_INFINITY });
    if (result.ok) this.#options.onMessage(result.value);
    else if (result.error.details?.['reason'] === 'parse_error') this.#broken = result.error;
    else this.#options.onUnreadable(result.error);
  }

  /** The text before this one was not JSON. The last one of a connection may have been cut off: the runtime sends it again. */
  #refuseBroken(): void {
    const broken = this.#broken;
    this.#broken = undefined;
    if (broken !== undefined) this.#options.onUnreadable(broken);
  }

  #watch(heartbeatMs: number): void {
    this.#missed = 0;
    this.#stopBeat?.();
    if (heartbeatMs > 0) this.#stopBeat = every(heartbeatMs, () => this.#listen());
  }

  #listen(): void {
    if (this.#missed > MISSED) this.drop();
    else if (this.#missed++ > 0) this.#options.ask();
  }

  #ended(channel: Channel, error: Error | undefined): void {
    if (channel !== this.#channel) return;
    this.#channel = undefined;
    this.#broken = undefined;
    this.#stopBeat?.();
    channel.destroy();
    if (this.#isClosed) return;
    const why = error === undefined ? '' : `: ${systemReason(error)}`;
    // A broken connection has one code, whatever carries it.
    this.#failed(new ArcpError('UNAVAILABLE', `The connection has ended${why}`, { cause: error }));
  }

  #failed(error: unknown): void {
    const { reconnect, lost } = this.#options;
    if (this.#isClosed) return;
    this.#lastError = error;
    lost(error);
    if (this.#isClosed) return;
    if (reconnect === false || ++this.#failures > (reconnect.maxAttempts ?? Number.POSITIVE_INFINITY)) {
      void this.close(error);
      return;
    }
    const { minDelayMs = 100, maxDelayMs = 10_000 } = reconnect;
    const delay = backoff(this.#failures, { min: minDelayMs, max: maxDelayMs });
    this.#cancelRetry = after(withJitter(delay), () => void this.connect());
  }
}
