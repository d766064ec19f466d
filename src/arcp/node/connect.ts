/** Connections to runtimes, by what names them. */
import { openClient } from '../client/client.js';
import type { Client, ClientOptions } from '../client/contract.js';
import { type DialOptions, dialOf, type Target } from './targets.js';

/**
 * Connects to a runtime and opens a session, or takes one up again.
 *
 * @throws ArcpError what the runtime refuses the session with
 * @throws TypeError on what is no target
 * @throws Error where there is no connection, and none is tried again
 * @example
 * const client = await connect('ws://127.0.0.1:7777/arcp', { token });
 * const { rows } = await client.invoke('query', { text: 'select 1' }).result();
 */
export async function connect(target: Target, options: ClientOptions & DialOptions = {}): Promise<Client> {
  const { token, maxMessageBytes, ...client } = options;
  const auth = client.auth ?? (token === undefined ? undefined : { scheme: 'bearer', token });
  return openClient(dialOf(target, { token, maxMessageBytes }), { ...client, auth });
}
