/**
 * JSON-RPC 2.0 as ACP speaks it (ACP, transports): connections with batches, channels that carry them, agents in child processes.
 * Public as `pegwire/acp`; the part that runs in browsers, too, is `pegwire/acp/portable`.
 */
export { type ByteChannelOptions, byteChannel } from '../channels/node/byte-channel.js';
export * from '../channels/node/socket.js';
export * from './node/agent.js';
export * from './node/agent.js';
export * from './portable.js';
