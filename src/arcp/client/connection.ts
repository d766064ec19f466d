/** The connection of a client: opening, heartbeats and reconnection. */

import { within } from '../../async/abort.js';
import { deferred } from '../../async/listeners.js';
import type { ReconnectOptions } from '../../async/reconnect.js';
import { after, backoff, every, withJitter } from '../../async/timers.js';
import { type Channel, endWithoutStall } from '../../channels/channel.js';
import { systemReason } from '../../text/system-reason.js';
import { EnvelopeError, headerOfText, tryParseEnvelope } from '../protocol/codec.js';
import type { Envelope } from '../protocol/envelope.js';
import { ArcpError } from '../protocol/errors.js';
import type { Dial } from './types.js';

export interface ConnectionOptions {
  readonly dial: Dial;
  /** Milliseconds of silence before a ping while the session is being opened. */
  readonly handshakeHeartbeatMs: number;
  readonly openTimeoutMs: number;
  readonly reconnect: ReconnectOptions | false;
  readonly opened: (send: (text: string) => void) => void;
  readonly onMessage: (message: Envelope) => void;
  readonly onUnreadable: (error: EnvelopeError) => void;
  readonly lost: (error: unknown) => void;
  readonly closed: (error: unknown) => void;
  readonly ping: () => void;
}

const HIGH_WATER_MARK = 1024 * 1024;
const MAX_MISSED = 2;
/** Milliseconds for which the runtime of a connection that is closed may read nothing. */
const STALL_MS = 3000;
/** Milliseconds for the runtime to end its side of a closed connection. */
const END_MS = 1000;

export class Connection {
  readonly #options: ConnectionOptions;
  #channel: Channel | undefined;
  /** Resolves when the input of the channel has ended. */
  #over: Promise<void> | undefined;
  #failures = 0;
  #isClosed = false;
  #missed = 0;
  #invalid: EnvelopeError | undefined;
  #stopHeartbeat: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;

  #lastError: unknown;
  readonly #cancelTimeout: () => void;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#cancelTimeout = after(options.openTimeoutMs, () => this.#onTimeout());
  }

  async connect(): Promise<void> {
    const { dial, opened, handshakeHeartbeatMs } = this.#options;
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
    const over = deferred();
    this.#channel = channel;
    this.#over = over.promise;
    channel.start({
      text: (text) => this.#receive(text),
      invalid: (why, beginning = '') => {
        const details = { header: headerOfText(beginning), details: { reason: 'parse_error' } };
        const message = `The runtime sent an invalid message: ${why}`;
        this.#options.onUnreadable(new EnvelopeError('INVALID_ARGUMENT', message, details));
      },
      // Reconnecting would not help, since the runtime would resend the message.
      tooLong: (limit) =>
        void this.close(
          new ArcpError('PAYLOAD_TOO_LARGE', `The runtime sent a message longer than ${limit} bytes`, {
            details: { reason: 'too_long', max_message_bytes: limit },
          }),
        ),
      ended: (error) => {
        over.resolve();
        this.#ended(channel, error);
      },
    });
    this.#startHeartbeat(handshakeHeartbeatMs);
    opened(this.send);
  }

  sessionOpened(heartbeatMs: number): void {
    this.#failures = 0;
    this.#cancelTimeout();
    this.#startHeartbeat(heartbeatMs);
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
    const channel = this.#detach();
    if (channel !== undefined) {
      await endWithoutStall(channel, STALL_MS);
      // One that is destroyed before is reset over HTTP/2, and servers limit resets.
      await within(END_MS, this.#over!);
      channel.destroy();
    }
    this.#options.closed(error);
  }

  /** Destroys the connection, since the runtime did not answer in time. */
  #onTimeout(): void {
    if (this.#isClosed) return;
    const cause = this.#lastError;
    const why = cause === undefined ? '' : `: ${systemReason(cause)}`;
    const message = `No session was opened within ${this.#options.openTimeoutMs} ms${why}`;
    this.#detach()?.destroy();
    this.#options.closed(new ArcpError('DEADLINE_EXCEEDED', message, { cause }));
  }

  #detach(): Channel | undefined {
    this.#isClosed = true;
    this.#cancelTimeout();
    this.#cancelRetry?.();
    this.#stopHeartbeat?.();
    const channel = this.#channel;
    this.#channel = undefined;
    return channel;
  }

  #receive(text: string): void {
    this.#missed = 0;
    this.#reportInvalid();
    const result = tryParseEnvelope(text, { maxMessageBytes: Number.POSITIVE_INFINITY });
    if (result.ok) this.#options.onMessage(result.value);
    else if (result.error.details?.['reason'] === 'parse_error') this.#invalid = result.error;
    else this.#options.onUnreadable(result.error);
  }

  /** Reports a text that was not JSON. The last one of a connection is not reported, since it may be incomplete. */
  #reportInvalid(): void {
    const error = this.#invalid;
    this.#invalid = undefined;
    if (error !== undefined) this.#options.onUnreadable(error);
  }

  #startHeartbeat(heartbeatMs: number): void {
    this.#missed = 0;
    this.#stopHeartbeat?.();
    if (heartbeatMs > 0 && Number.isFinite(heartbeatMs))
      this.#stopHeartbeat = every(heartbeatMs, () => this.#checkHeartbeat());
  }

  #checkHeartbeat(): void {
    if (this.#missed > MAX_MISSED) this.drop();
    else if (this.#missed++ > 0) this.#options.ping();
  }

  #ended(channel: Channel, error: Error | undefined): void {
    if (channel !== this.#channel) return;
    this.#channel = undefined;
    this.#invalid = undefined;
    this.#stopHeartbeat?.();
    channel.destroy();
    if (this.#isClosed) return;
    const why = error === undefined ? '' : `: ${systemReason(error)}`;
    this.#failed(new ArcpError('UNAVAILABLE', `The connection was lost${why}`, { cause: error }));
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
