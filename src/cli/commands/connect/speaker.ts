/** One way to say something to an endpoint. */
import type { Said } from './messages.js';

export interface Speaker {
  /**
   * Sends it. When it resolves, the next may be sent.
   *
   * @throws PegwireError for what cannot be said; the connection goes on
   * @throws UsageError `unreachable` where there is nobody to hear it
   */
  readonly say: (said: Said) => Promise<void>;
  /** Rejects with a UsageError when the connection has ended by itself. */
  readonly broken: Promise<never>;
  /** Waits for outstanding answers, and ends the connection. */
  readonly end: () => Promise<void>;
  /** Ends the connection at once. */
  readonly stop: () => Promise<void>;
}

export interface SpeakerOptions {
  readonly url: string;
  readonly agent: string;
  readonly token: string | undefined;
  /** Seconds without a frame after which answers are given up. */
  readonly timeout: number;
}

/** What shows the token. */
export function headersOf({ token }: SpeakerOptions): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Nothing ever. */
export const NEVER: Promise<never> = new Promise(() => {});
