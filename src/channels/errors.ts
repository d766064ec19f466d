import { PegwireError } from '../text/errors.js';

/**
 * The code of a {@link ConnectionError}.
 *
 * - `closed`: the connection could not be established, or has ended
 * - `spawn-failed`: the program could not be started
 */
export type ChannelErrorCode = 'closed' | 'spawn-failed';

/** The error of a connection itself, as opposed to an error response. Protocols add codes of their own. */
export class ConnectionError<Code extends string = ChannelErrorCode> extends PegwireError {
  /** The name of the class. */
  override readonly name: string = 'ConnectionError';
  /** A code that stays the same between versions. */
  declare readonly code: Code;
  /** The first 200 characters of the input that caused the error, if any. */
  readonly received: string | undefined;

  constructor(code: Code, message: string, details: { cause?: unknown; received?: string } = {}) {
    super({ code, message }, details);
    this.received = details.received?.slice(0, 200);
  }
}
