/** One side of a conversation in JSON-RPC 2.0 (ACP, transports). Both sides may call. */
import type { Channel } from '../channels/channel.js';
import { type AnyStream, isStream, streamChannel } from './from-stream.js';
import { Peer } from './peer.js';
import type { Connection, ConnectionOptions } from './types.js';

/**
 * Makes a connection on a channel, or on a pair of streams of messages such as the official SDK has them.
 *
 * Source: JSON-RPC 2.0; ACP, transports.
 *
 * @throws TypeError on options that are none
 * @example
 * const connection = createConnection(channel, { handlers: { add: ({ a, b }: { a: number; b: number }) => a + b } });
 * const answer = await connection.request('session/new', { cwd: '/', mcpServers: [] });
 */
export function createConnection(transport: Channel | AnyStream, options: ConnectionOptions = {}): Connection {
  return new Peer(isStream(transport) ? streamChannel(transport) : transport, options);
}
