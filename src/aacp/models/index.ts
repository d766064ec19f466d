/** Language models for the fallback encoder, through `@anthropic-ai/sdk` and `openai`. Public as `pegwire/aacp/models`. */
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export {
  type AnthropicClient,
  type AnthropicConstraint,
  type AnthropicModelOptions,
  anthropicModel,
} from './anthropic-model.js';
export type {
  GrammarNotation,
  Model,
  ModelAnswer,
  ModelPrice,
  ModelReply,
  ModelRequest,
  ModelUsage,
  ProviderModel,
} from './model.js';
export { ModelError, type ModelErrorCode } from './model.js';
export {
  type CompatibleConstraint,
  type CompatibleModelOptions,
  type CompatibleServer,
  openaiCompatibleModel,
} from './openai-compatible-model.js';
export type { OpenAiChatClient, OpenAiResponsesClient } from './openai-model.js';
export { type OpenAiConstraint, type OpenAiModelOptions, openaiModel } from './openai-model.js';
export { type Finding, type Hint, type PromptParts, repairPrompt, systemPrompt, userPrompt } from './prompt.js';
export type { ModelNotice, ModelNoticeCode, ProviderOptions, ProviderPrice, SdkRequestOptions } from './provider.js';
export { type ReadReply, type ReplyProblem, readReply } from './read-reply.js';
