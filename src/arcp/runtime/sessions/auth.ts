/** Who is at the other end (spec 003 leaves the providers to others; sessions, jobs and permissions need a principal all the same). */
import type { PayloadOf } from '../../protocol/catalogue.js';
import { ArcpError } from '../../protocol/errors.js';
import type { TrustLevel } from '../../protocol/payloads/parts.js';

/** The origin of a connection, as known to the transport. */
export interface Peer {
  /** `memory`, `websocket`, `stdio`, `unix`, `fifo`, ... */
  readonly kind: string;
  /** The network address. */
  readonly address?: string | undefined;
  /** The identity known to the transport, such as the subject of a certificate. */
  readonly identity?: string | undefined;
  /** Checks the listener's token if the transport did not: `session.open` must have it in `auth`. */
  readonly isToken?: ((token: string) => boolean) | undefined;
}

/** An authenticated client. */
export interface Identity {
  readonly principal: string;
  readonly trust: TrustLevel;
  /** Allows answers to permission requests. @default true */
  readonly mayGrant?: boolean | undefined;
}

/** Identifies a client. @throws ArcpError `UNAUTHENTICATED`; other errors look the same to the client */
export type Authenticate = (auth: PayloadOf<'session.open'>['auth'], peer: Peer) => Identity | Promise<Identity>;

/** Accepts everyone as one principal, for a runtime that only its user can reach. @default { principal: 'local', trust: 'constrained' } */
export function anonymous(identity: Partial<Identity> = {}): Authenticate {
  const { principal = 'local', trust = 'constrained', mayGrant = true } = identity;
  return () => ({ principal, trust, mayGrant });
}

/**
 * Accepts bearer tokens: `auth: { scheme: 'bearer', token }`.
 * @param verify returns `undefined` for an unknown token; compare in constant time
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
