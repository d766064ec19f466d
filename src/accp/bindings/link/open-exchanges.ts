/** Links over exchanges: over HTTP and A2A. */
import { partsOfSession, type Session } from '../../session/session.js';
import { type ExchangeOptions, Exchanges, type Exchanging } from './exchanges.js';
import type { Link, LinkOptions } from './link-options.js';
import { openLink } from './open-link.js';
import { checkSeconds, LEAST_TIMEOUT } from './seconds.js';

/** Default least time without a frame after which an exchange has failed, in seconds: connecting takes time, too. */
const LEAST_EXCHANGE = 10;
/** Default number of attempts to reach the other side again: about 45 seconds. */
const ATTEMPTS = 8;

/** Those of the link that a session goes on over. */
const current = new WeakMap<Session, Exchanges>();

/**
 * @param exchanging how frames are exchanged
 * @throws LinkError when the other side cannot be reached, or refuses the first frame
 * @throws TypeError on invalid options
 */
export async function openExchanges(
  options: LinkOptions & ExchangeOptions,
  exchanging: Pick<Exchanging, 'exchange' | 'failureOf'>,
): Promise<Link> {
  const { session, reconnect, maxExchanges = 64 } = options;
  const { timeout } = partsOfSession(session).options;
  const { exchangeTimeout = timeout === 0 ? Number.POSITIVE_INFINITY : Math.max(2 * timeout, LEAST_EXCHANGE) } =
    options;
  checkSeconds({ exchangeTimeout: options.exchangeTimeout }, LEAST_TIMEOUT);
  if (!(maxExchanges >= 1)) throw new TypeError(`maxExchanges is a number from 1 on; got ${maxExchanges}`);
  const exchanges = new Exchanges({ ...exchanging, session, maxExchanges, exchangeTimeout });
  const link = await openLink((receiver) => exchanges.connect(receiver), {
    ...options,
    reconnect: reconnect === false ? false : { attempts: ATTEMPTS, ...reconnect },
    // An exchange that is not answered shows by itself that the other side has gone.
    heartbeat: 0,
  });
  current.get(session)?.replace();
  current.set(session, exchanges);
  void link.closed.then(() => exchanges.end());
  return link;
}
