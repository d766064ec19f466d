/** ACCP above the grammar (draft-benzing-accp-00, sections 3.3 to 10). Public as `pegwire/accp/session`. */

export type { Diagnostic } from '../../text/diagnostic.js';
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export type { TokenCounter } from '../../tokens/counter.js';
export type { Frame } from '../ast.js';
export { AccpError, type AccpErrorCode, type AccpErrorDetails, ERROR_CODES, type ErrorCode } from '../errors.js';
export type { FieldType, Json, JsonArray, JsonObject, SchemaDefinition } from '../message/json.js';
export { Reference, ref } from '../message/json.js';
export type { Envelope, Loss, Message, MessageInput } from '../message/message.js';
export type { TextPolicy } from '../message/write-value.js';
export type { Dialect } from '../parse.js';
export { errorPayload } from '../profiles/error.js';
export {
  type ChatOptions,
  chatMessage,
  defineTools,
  PROFILES,
  type Profile,
  type Tool,
  type Tools,
} from '../profiles/profiles.js';
export { toolErrorPayload } from '../profiles/tool.js';
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
export type { PendingRequest } from '../session/chains.js';
export type { SequenceMode } from '../session/delivery.js';
export {
  createSession,
  type OverdueRequest,
  type Session,
  type SessionOptions,
  startTimers,
  type TimerOptions,
} from '../session/session.js';
export type {
  CheckpointResult,
  CheckpointTools,
  CheckpointTrigger,
  Fact,
  FactValue,
  HotSnapshot,
  HotSnapshotWithFacts,
  ReferenceLimits,
  SessionState,
  SetOptions,
  StateBudgets,
  StoredFrame,
  Tier,
  TokenBudget,
} from '../state/state.js';
export type { EventListener, SessionEvent } from '../store/events.js';
export { type MemoryStoreOptions, memoryStore } from '../store/memory.js';
export { type EndpointStore, type SessionStore, StoreError, type StoreReason } from '../store/store.js';
export type { StreamSource } from '../streams/stream-messages.js';
export { type StreamMessagesOptions, streamMessages } from '../streams/stream-messages.js';
export type { StreamChunk } from '../streams/streams.js';
export { type Codec, createCodec } from './codec.js';
export type {
  Accepted,
  CodecOptions,
  DecodeOutcome,
  Dropped,
  EncodeResult,
  FrameTokens,
  Pending,
  Rejected,
} from './contract.js';
export { FRAME_LIMITS, type FrameLimits, type Limit } from './contract.js';
