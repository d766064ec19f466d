/** AACP over A2A (draft-mackay-aacp-01, section 11). Public as `pegwire/aacp/a2a`. */

// biome-ignore lint/performance/noReExportAll: it lists names for entry points alone
export * from '../entry.js';
export { AACP_EXTENSION, type AacpCard, type AacpCardOptions, aacpCard, type Card, routesOfCard } from './card.js';
export { type PacketExecutorOptions, packetExecutor } from './executor.js';
export { ENVELOPE_META } from './parts.js';
export type { A2aMessage, ExecutionContext, PacketClient, PacketExecutor } from './sdk-shapes.js';
export { type SendPacketOptions, type SendPacketsOptions, sendPacket, sendPackets } from './send-packet.js';
