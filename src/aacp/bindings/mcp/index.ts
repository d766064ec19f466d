/** AACP over MCP (draft-mackay-aacp-01, section 11). Public as `pegwire/aacp/mcp`. */

// biome-ignore lint/performance/noReExportAll: it lists names for entry points alone
export * from '../entry.js';
export { type CallPacketOptions, callPacketTool } from './call-packet-tool.js';
export {
  createPacketTool,
  PACKET_INPUT,
  PACKET_TOOL,
  PACKET_TOOL_DESCRIPTION,
  type PacketToolHandler,
  type PacketToolOptions,
} from './packet-tool.js';
export { packetContent, packetResource, VOCABULARY_URI, vocabularyResource } from './resources.js';
export type { PacketResource, PacketToolClient, PacketToolResult, ResourceResult } from './sdk-shapes.js';
