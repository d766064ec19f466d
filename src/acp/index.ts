/**
 * JSON-RPC 2.0 as ACP uses it (ACP, transports): connections with batches, their channels, and agents in child processes. Public as
 * `pegwire/acp`; the part that also runs in browsers is `pegwire/acp/portable`.
 */
export { type ByteChannelOptions, byteChannel } from '../channels/node/byte-channel.js';
export * from '../channels/node/socket.js';
export * from './node/agent.js';
export * from './portable.js';
