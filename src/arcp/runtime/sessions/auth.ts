/** Who is at the other end (spec 003 leaves the providers to others; sessions, jobs and permissions need a principal all the same). */
import type { PayloadOf } from '../../protocol/catalogue.js';
import { ArcpError } from '../../protocol/errors.js';
import type { TrustLevel } from '../../protocol/payloads/parts.js';

/** Where a connection comes from, as far as its transport can tell. */
export interface Peer {
  /** `memory`, `websocket`, `stdio`, `unix`, `fifo`, ... */
  readonly kind: string;
  /** Where it comes from: of a network, the address. */
  readonly address?: string | undefined;
  /** What the transport itself knows of who it is: the subject of a certificate, for one. */
  readonly identity?: string | undefined;
  /**
   * Compares a token with the one that the listener requires. Present only where the transport has not seen it: `session.open` has to show it in
   * `auth`, or is refused before `authenticate` is called.
   */
  readonly isToken?: ((token: string) => boolean) | undefined;
}

/** Somebody who is known. */
export interface Identity {
  readonly principal: string;
  readonly trust: TrustLevel;
  /** Whether it may answer requests for permissions. @default true */
  readonly mayGrant?: boolean | undefined;
}

/**
 * Says who somebody is.
 *
 * @throws ArcpError `UNAUTHENTICATED` when it does not know; whatever else it throws is the same to the other side
 */
export type Authenticate = (auth: PayloadOf<'session.open'>['auth'], peer: Peer) => Identity | Promise<Identity>;

/** Takes everybody for the same: for a runtime that only its own user can reach. @default { principal: 'local', trust: 'constrained' } */
export function anonymous(identity: Partial<Identity> = {}): Authenticate {
  const { principal = 'local', trust = 'constrained', mayGrant = true } = identity;
  return () => ({ principal, trust, mayGrant });
}

/**
 * Takes those who have a token: `auth: { scheme: 'bearer', token }`.
 *
 * @param verify says whose token it is, and `undefined` for nobody's. Compare tokens in constant time
 */
export function bearer(
  verify: (token: string, peer: Peer) => Identity | undefined | Promise<Identity | undefined>,
): Authenticate {
  return async (auth, peer) => {
    if (auth?.scheme.toLowerCase() !== 'bearer' || auth.token === undefined) {
      throw new ArcpError('UNAUTHENTICATED', 'A bearer token is needed', { details: { schemes: ['bearer'] } });
    }
    const identity = await verify(auth.token, peer);
    if (identity === undefined) throw new ArcpError('UNAUTHENTICATED', 'The token is not known');
    return identity;
  };
}
