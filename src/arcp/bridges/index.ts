/** Conversion of the tools of a runtime for other APIs. Public as `pegwire/arcp/bridges`. */
export {
  type AnthropicTool,
  type AnthropicToolResult,
  type AnthropicToolUse,
  runAnthropicToolUses,
  toAnthropicTools,
} from './anthropic.js';
export type { ToolCallOptions, ToolClient, ToolInfo } from './calls.js';
export { answerJsonRpc, jsonRpcMethod } from './json-rpc.js';
export {
  type OpenAiFunctionCall,
  type OpenAiFunctionCallOutput,
  type OpenAiResponseTool,
  type OpenAiTool,
  type OpenAiToolCall,
  type OpenAiToolMessage,
  runOpenAiFunctionCalls,
  runOpenAiToolCalls,
  toOpenAiResponseTools,
  toOpenAiTools,
} from './openai.js';
