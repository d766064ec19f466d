/** ACCP above the grammar (draft-benzing-accp-00, sections 3.3 to 10). Public as `pegwire/accp/session`. */
export type { Diagnostic } from '../../text/diagnostic.js';
export type { TokenCounter } from '../../tokens/counter.js';
export type { Frame } from '../ast.js';
export { type Codec, createCodec } from '../codec/codec.js';
export { FRAME_LIMITS, type FrameLimits, type Limit } from '../codec/frame-limits.js';
export type { CodecOptions } from '../codec/options.js';
export type {
  Accepted,
  DecodeOutcome,
  Dropped,
  EncodeResult,
  FrameTokens,
  Pending,
  Rejected,
} from '../codec/outcome.js';
export { AccpError, type AccpErrorDetails } from '../errors/accp-error.js';
export { type AccpErrorCode, ERROR_CODES, type ErrorCode } from '../errors/codes.js';
export type { FieldType } from '../message/field-type.js';
export type { Json, JsonArray, JsonObject } from '../message/json.js';
export type { Envelope, Loss, Message, MessageInput } from '../message/message.js';
export { Reference, ref } from '../message/reference.js';
export type { TextPolicy } from '../message/write-value.js';
export type { Dialect } from '../parse.js';
export { type ChatOptions, chatMessage } from '../profiles/chat.js';
export { errorPayload } from '../profiles/error.js';
export { PROFILES, type Profile, type Tool, type ToolBook, toolBook } from '../profiles/profiles.js';
export { toolErrorPayload } from '../profiles/tool.js';
export type { SchemaDefinition } from '../registry/definition.js';
export type { Announcement } from '../registry/negotiation.js';
export {
  createRegistry,
  exportRegistry,
  type Registry,
  type RegistryJson,
  registerOperation,
  registerSchema,
} from '../registry/registry.js';
export { CONTEXT_RULE, type Rendered, type RenderOptions, renderForContext } from '../render/index.js';
export type {
  CheckpointResult,
  CheckpointTools,
  CheckpointTrigger,
  Fact,
  FactValue,
  Frozen,
  FrozenWithFacts,
  KeptFrame,
  ReferenceLimits,
  SessionState,
  SetOptions,
  StateBudgets,
  Tier,
  TokenBudget,
} from '../state/state.js';
export type { EventListener, SessionEvent } from '../store/events.js';
export { type MemoryStoreOptions, memoryStore } from '../store/memory.js';
export { type EndpointStore, type SessionStore, StoreError, type StoreReason } from '../store/store.js';
export type { StreamSource } from '../streams/split-stream.js';
export { type StreamMessagesOptions, streamMessages } from '../streams/stream-messages.js';
export type { StreamChunk } from '../streams/streams.js';
export type { PendingRequest } from './chains.js';
export type { SequenceMode } from './delivery.js';
export { type KeepTimeOptions, keepTime } from './keep-time.js';
export { createSession, type Overdue, type Session, type SessionOptions } from './session.js';
