/**
 * Options of reconnection. The delay before an attempt doubles from `minDelayMs` to `maxDelayMs` with each failed attempt; up to half of it
 * is subtracted at random, so that peers that were cut off together do not return together.
 */
export interface ReconnectOptions {
  /** The delay before the first attempt in milliseconds. The default is that of the client. */
  readonly minDelayMs?: number | undefined;
  /** The maximum delay in milliseconds. The default is that of the client. */
  readonly maxDelayMs?: number | undefined;
  /** The number of consecutive failed attempts after which the client stops; `Infinity` for no limit. The default is that of the client. */
  readonly maxAttempts?: number | undefined;
}
