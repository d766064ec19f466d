/** MCP servers behind a runtime (spec 003, "MCP Compatibility"). Public as `pegwire/arcp/mcp`. */
export type { McpClient } from './connection.js';
export { type WrapMcpOptions, type WrappedMcp, wrapMcp } from './wrap.js';
