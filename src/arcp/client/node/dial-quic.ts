/** Connections to runtimes over QUIC. */
import type { Channel } from '../../../channels/channel.js';
import { type DialQuicOptions, dialQuicAddress } from '../../../channels/node/quic/dial.js';
import { SUBPROTOCOL } from '../../protocol/envelope.js';
import { openClient } from '../client.js';
import type { Client, ClientOptions } from '../types.js';

/**
 * Connects to a runtime over QUIC and opens a session, or resumes one.
 *
 * @throws ArcpError the refusal of the session; `DEADLINE_EXCEEDED` if no session is open after `timeoutMs`
 * @throws TypeError if the address or an option is invalid
 * @throws ConnectionError `closed` if the connection fails and `reconnect` is `false`
 * @example
 * const client = await connectQuic('quic://runtime.example:7777', { token });
 */
export async function connectQuic(
  address: string,
  options: ClientOptions & DialQuicOptions & { readonly token?: string | undefined } = {},
): Promise<Client> {
  const { driver, ca, serverName, maxMessageBytes, handshakeTimeoutMs, idleTimeoutMs, keepAliveMs, ...rest } = options;
  const { token, onError, ...client } = rest;
  const auth = client.auth ?? (token === undefined ? undefined : { scheme: 'bearer', token });
  const limits = { maxMessageBytes, handshakeTimeoutMs, idleTimeoutMs, keepAliveMs };
  const dial = dialQuic(address, { driver, ca, serverName, ...limits, onError });
  return openClient(dial, { ...client, onError, auth });
}

/**
 * Returns a function that connects to a runtime, for `openClient`. Clients of the same function share a QUIC connection while it is sound:
 * each has a stream of its own, so a slow one does not hold up the others.
 *
 * @throws TypeError if the address or an option is invalid
 */
export function dialQuic(address: string, options: DialQuicOptions = {}): () => Promise<Channel> {
  return dialQuicAddress(address, SUBPROTOCOL, options);
}
