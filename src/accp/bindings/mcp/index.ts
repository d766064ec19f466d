/** ACCP over MCP (draft-benzing-accp-00, section 11.3). Public as `pegwire/accp/mcp`. */
export {
  type Answer,
  type AnswerContext,
  createEndpoint,
  type Endpoint,
  type EndpointOptions,
  type Notice,
} from '../endpoint.js';
export { FRAME_TYPE } from '../frames.js';
export { callTool, type ToolCall, type ToolCallOptions, type ToolOutcome } from './call-tool.js';
export { type ContentOptions, frameContent, frameResource, framesIn } from './content.js';
export { failFastFetch } from './fail-fast-fetch.js';
export {
  type Agreement,
  createRegistryExchange,
  MCP_AGENT,
  REGISTRY_URI,
  type RegistryExchange,
  type RegistryExchangeOptions,
  readRegistry,
  registryCapability,
  registryIn,
  registryInCapabilities,
  withRegistry,
} from './registry-exchange.js';
export type { EmbeddedResource, RegistryClient, ResourceResult, ToolClient, ToolResult } from './sdk-shapes.js';
export { type ToolContext, type ToolHandler, type ToolOptions, tcTool } from './tc-tool.js';
