import type { PacketAnswer, PacketToolClient } from '../../../src/aacp/bindings/mcp/index.js';
import { PACKET_TOOL } from '../../../src/aacp/bindings/mcp/index.js';
import type { Connection } from './suite.js';

/** Calls the tool with any text, without the validation of `callPacketTool`. */
export function packetCaller(client: PacketToolClient): Connection['send'] {
  return async (packet, envelope) => {
    const result = await client.callTool({ name: PACKET_TOOL, arguments: { packet, ...envelope } });
    return (result as { structuredContent: PacketAnswer }).structuredContent;
  };
}
