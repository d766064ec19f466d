/** Authentication of clients. Spec 003 does not define it, but sessions, jobs and permissions need a principal. */
import type { PayloadOf } from '../../protocol/catalogue.js';
import { ArcpError } from '../../protocol/errors.js';
import type { TrustLevel } from '../../protocol/payloads/parts.js';

/** The origin of a connection, as known to the transport. */
export interface Peer {
  /** The kind of transport: `memory`, `websocket`, `stdio`, `unix`, `fifo`, ... */
  readonly kind: string;
  /** The network address of the client. */
  readonly address?: string | undefined;
  /** The identity known to the transport, such as the subject of a certificate. */
  readonly identity?: string | undefined;
  /** Checks the token of the listener. Present if the transport did not check it; `session.open` must then have the token in `auth`. */
  readonly verifyToken?: ((token: string) => boolean) | undefined;
}

/** The client as its authentication describes it. */
export interface Identity {
  /** The user or service, which owns sessions, jobs and permissions. */
  readonly principal: string;
  /** The highest trust that its sessions can have. */
  readonly trust: TrustLevel;
  /** If true, the client may answer permission requests. @default true */
  readonly mayGrant?: boolean | undefined;
}

/** Identifies a client. @throws ArcpError `UNAUTHENTICATED`; the client receives other errors as the same code */
export type Authenticate = (auth: PayloadOf<'session.open'>['auth'], peer: Peer) => Identity | Promise<Identity>;

/**
 * Accepts all clients as one principal, for a runtime that only its user can reach.
 *
 * @param identity replaces members of `{ principal: 'local', trust: 'constrained', mayGrant: true }`
 */
export function anonymous(identity: Partial<Identity> = {}): Authenticate {
  const { principal = 'local', trust = 'constrained', mayGrant = true } = identity;
  return () => ({ principal, trust, mayGrant });
}

/**
 * Accepts bearer tokens: `auth: { scheme: 'bearer', token }`.
 *
 * @param verify returns the identity, or `undefined` for an unknown token; compare tokens in constant time
 */
export function bearer(
  verify: (token: string, peer: Peer) => Identity | undefined | Promise<Identity | undefined>,
): Authenticate {
  return async (auth, peer) => {
    if (auth?.scheme.toLowerCase() !== 'bearer' || auth.token === undefined) {
      throw new ArcpError('UNAUTHENTICATED', 'A bearer token is required; send { scheme: "bearer", token } in auth', {
        details: { schemes: ['bearer'] },
      });
    }
    const identity = await verify(auth.token, peer);
    if (identity === undefined) throw new ArcpError('UNAUTHENTICATED', 'The bearer token is not valid');
    return identity;
  };
}
