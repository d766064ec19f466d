/** How connections end. */
import { PegwireError } from '../../../text/errors.js';

/** Codes with which connections are closed (RFC 6455, section 7.4; from 4000 on, the bindings' own). */
export const CLOSE = {
  normal: 1000,
  /** The other side does not answer any more, or a server ends. */
  goingAway: 1001,
  binary: 1003,
  notUtf8: 1007,
  /** The first frame was no `sync:registry`. */
  noRegistry: 1008,
  tooBig: 1009,
  failed: 1011,
  /** Another connection of the session has taken its place. */
  replaced: 4001,
} as const;

/**
 * - `unreachable`: no connection came about
 * - `refused`: the other side does not accept the link, so that it is not tried again; over WebSocket, `closeCode` says why
 * - `replaced`: the session goes on over another connection
 * - `session-lost`: the other side has forgotten the session
 * - `store-failed`: the session's store failed
 * - `closed`: it was closed here
 * - `lost`: messages were lost with a connection, and were no longer kept to be sent again
 * - `unread`: a message was dropped, since nobody reads them
 */
export type LinkErrorCode =
  | 'unreachable'
  | 'refused'
  | 'replaced'
  | 'session-lost'
  | 'store-failed'
  | 'closed'
  | 'lost'
  | 'unread';

/** A connection that cannot go on. */
export class LinkError extends PegwireError {
  override readonly name: string = 'LinkError';
  declare readonly code: LinkErrorCode;
  /** The code with which the socket was closed, where it was. */
  readonly closeCode: number | undefined;

  constructor(code: LinkErrorCode, message: string, details: { closeCode?: number | undefined; cause?: unknown } = {}) {
    super({ code, message }, details);
    this.closeCode = details.closeCode;
  }
}
