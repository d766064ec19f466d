import type { Channel } from '../channels/channel.js';
import { type AnyStream, isStream, streamChannel } from './from-stream.js';
import { Peer } from './peer.js';
import type { Connection, ConnectionOptions } from './types.js';

/**
 * Creates a JSON-RPC 2.0 connection over a channel, or over a pair of message streams such as those of the official SDK. Both sides can send
 * requests.
 *
 * Source: JSON-RPC 2.0; ACP, transports.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const connection = createConnection(channel, { handlers: { add: ({ a, b }: { a: number; b: number }) => a + b } });
 * const answer = await connection.request('session/new', { cwd: '/', mcpServers: [] });
 */
export function createConnection(transport: Channel | AnyStream, options: ConnectionOptions = {}): Connection {
  return new Peer(isStream(transport) ? streamChannel(transport) : transport, options);
}
