/** How a link is opened, whatever carries its frames. */
import { partsOfSession } from '../../session/session.js';
import type { Carrier, CarrierReceiver } from './carrier.js';
import type { HeartbeatOptions } from './heartbeat.js';
import { FrameLink } from './link.js';
import type { Link, LinkOptions } from './link-options.js';
import { checkSeconds, LEAST_TIMEOUT } from './seconds.js';

/**
 * @param connect begins a connection
 * @throws LinkError when no connection comes about
 * @throws TypeError on invalid options
 */
export async function openLink(
  connect: (receiver: CarrierReceiver) => Carrier,
  options: LinkOptions & HeartbeatOptions,
): Promise<Link> {
  const { handshakeTimeout, reconnect } = options;
  checkSeconds({ handshakeTimeout }, LEAST_TIMEOUT);
  const { min, max, attempts = 0 } = reconnect === false ? {} : (reconnect ?? {});
  checkSeconds({ 'reconnect.min': min, 'reconnect.max': max });
  if (!(attempts >= 0)) throw new TypeError(`reconnect.attempts is a number from 0 on; got ${attempts}`);
  if (partsOfSession(options.session).options.sequence !== 'sender')
    throw new TypeError("Over a link both sides may speak: the session is opened with sequence: 'sender'");
  const link = new FrameLink(connect, options);
  try {
    await link.open();
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
  return link;
}
