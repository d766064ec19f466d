/** AACP over HTTP. Public as `pegwire/aacp/http`. */

// biome-ignore lint/performance/noReExportAll: it lists names for entry points alone
export * from '../entry.js';
export { createPacketHandler, type PacketHandlerOptions } from './create-packet-handler.js';
export { NONCE_HEADER, PACKETS_PATH, SENT_AT_HEADER } from './headers.js';
export { type Fetch, type PostPacketOptions, postPacket, type RetryOptions } from './post-packet.js';
