/**
 * Options of reconnection. The delay before an attempt doubles from `minDelayMs` to `maxDelayMs` with each failed attempt; up to half of it
 * is subtracted at random, so that peers that were cut off together do not return together.
 */
export interface ReconnectOptions {
  /** Milliseconds before the first attempt. The client's documentation gives the default. */
  readonly minDelayMs?: number | undefined;
  /** Longest delay in milliseconds. The client's documentation gives the default. */
  readonly maxDelayMs?: number | undefined;
  /** Failed attempts in a row after which the client gives up; `Infinity` for no limit. The client's documentation gives the default. */
  readonly maxAttempts?: number | undefined;
}
