/** The connection of a client: opened, watched, and made again. */

import type { ReconnectOptions } from '../../async/reconnect.js';
import { after, backoff, every, withJitter } from '../../async/timers.js';
import type { Channel } from '../../channels/channel.js';
import { systemReason } from '../../text/system-reason.js';
import { EnvelopeError, headerOfText, tryParseEnvelope } from '../protocol/codec.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import type { Dial } from './types.js';

export interface LinkOptions {
  readonly dial: Dial;
  /** Milliseconds of silence before a ping, until the session is open. */
  readonly handshakeMs: number;
  readonly openWithinMs: number;
  readonly reconnect: ReconnectOptions | false;
  readonly opened: (send: (text: string) => void) => void;
  readonly onMessage: (message: Envelope) => void;
  readonly onUnreadable: (error: EnvelopeError) => void;
  readonly lost: (error: unknown) => void;
  readonly closed: (error: unknown) => void;
  readonly ask: () => void;
}

const HIGH_WATER_MARK = 1024 * 1024;
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

  #lastError: unknown;
  readonly #cancelTimeout: () => void;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#cancelTimeout = after(options.openWithinMs, () => this.#giveUp());
  }

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
      invalid: (why, beginning = '') => {
        const details = { header: headerOfText(beginning), details: { reason: 'parse_error' } };
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

  sessionOpened(heartbeatMs: number): void {
    this.#failures = 0;
    this.#cancelTimeout();
    this.#watch(heartbeatMs);
  }

  readonly send = (text: string): void => {
    this.#channel?.send(text);
  };

  get maxTextBytes(): number | undefined {
    return this.#channel?.maxTextBytes;
  }

  drained(): Promise<void> | undefined {
    const channel = this.#channel;
    return channel === undefined || channel.backlog() < HIGH_WATER_MARK ? undefined : channel.ready();
  }

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

  /** The server did not answer, so the connection is not closed in order. */
  #giveUp(): void {
    if (this.#isClosed) return;
    const cause = this.#lastError;
    const why = cause === undefined ? '' : `: ${systemReason(cause)}`;
    const message = `There is no session after ${this.#options.openWithinMs} ms${why}`;
    this.#leave()?.destroy();
    this.#options.closed(new ArcpError('DEADLINE_EXCEEDED', message, { cause }));
  }

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

  /** Reports a text that was not JSON, unless it was the last of a connection and may have been cut off. */
  #refuseBroken(): void {
    const broken = this.#broken;
    this.#broken = undefined;
    if (broken !== undefined) this.#options.onUnreadable(broken);
  }

  #watch(heartbeatMs: number): void {
    this.#missed = 0;
    this.#stopBeat?.();
    if (heartbeatMs > 0 && Number.isFinite(heartbeatMs)) this.#stopBeat = every(heartbeatMs, () => this.#listen());
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
    const delay = backoff(this.#failures, { minDelayMs, maxDelayMs });
    this.#cancelRetry = after(withJitter(delay), () => void this.connect());
  }
}
