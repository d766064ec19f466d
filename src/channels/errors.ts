import { PegwireError } from '../text/errors.js';

/**
 * - `closed`: there is no connection: it could not be made, or has ended
 * - `spawn-failed`: the program could not be started
 */
export type ChannelErrorCode = 'closed' | 'spawn-failed';

/** A fault of the connection, not an answer of the other side. Protocols may have codes of their own. */
export class ConnectionError<Code extends string = ChannelErrorCode> extends PegwireError {
  override readonly name: string = 'ConnectionError';
  declare readonly code: Code;
  /** What arrived, cut after 200 characters, if anything did. */
  readonly received: string | undefined;

  constructor(code: Code, message: string, details: { cause?: unknown; received?: string } = {}) {
    super({ code, message }, details);
    this.received = details.received?.slice(0, 200);
  }
}
