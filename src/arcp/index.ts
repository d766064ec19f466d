/**
 * ARCP, the Agent Runtime Control Protocol, as messages: envelope, payloads, errors, text. Public as `pegwire/arcp`; who speaks it stands in
 * `pegwire/arcp/runtime` and `pegwire/arcp/client`.
 *
 * Source: spec 003.
 */
export { type ErrorJson, PegwireError } from '../text/errors.js';
export { type CheckOptions, checkLog, type LogRule, type Violation } from './logs/check.js';
export { ExecutionGraph, type GraphNode, type NodeKind, type NodeState } from './logs/graph.js';
export { mermaidText } from './logs/mermaid.js';
export { svgText } from './logs/svg.js';
export { type Paint, treeText } from './logs/tree.js';
export {
  CATALOGUE,
  isExtensionType,
  MESSAGE_TYPES,
  type MessageGroup,
  type MessageType,
  type PayloadOf,
  type Sender,
} from './protocol/catalogue.js';
export {
  assertEnvelope,
  type CodecOptions,
  EnvelopeError,
  type Extensions,
  type Issue,
  MAX_DEPTH,
  MAX_MESSAGE_BYTES,
  parseEnvelope,
  printEnvelope,
  readEnvelope,
  type Sketch,
  tryParseEnvelope,
} from './protocol/codec.js';
export type { AnyEnvelope, Envelope } from './protocol/envelope.js';
export {
  ArcpError,
  asArcpError,
  ERROR_CODES,
  type ErrorBody,
  type ErrorCode,
  type ErrorDetails,
  isRetryable,
  type KnownErrorCode,
} from './protocol/errors.js';
export { type IdKind, newId, newSpanId, newTraceId } from './protocol/ids.js';
export { LOG_LEVELS, type LogLevel, logLevelOf } from './protocol/payloads/event.js';
export { CANCEL_CAUSES, type CancelCause } from './protocol/payloads/job.js';
export {
  JOB_STATES,
  type JobState,
  SESSION_MODES,
  type SessionMode,
  TRUST_LEVELS,
  type TrustLevel,
} from './protocol/payloads/parts.js';
export { JOB_DISPOSALS, type JobDisposal } from './protocol/payloads/session.js';
export { STREAM_KINDS, type StreamKind, streamKindOf } from './protocol/payloads/stream.js';
export { messageJsonSchema, messageSchema } from './protocol/schema.js';
export { isTimestamp, momentOf, timestampOf } from './protocol/timestamp.js';
export { ARCP_VERSION, isSupported, isVersion, SUPPORTED_VERSIONS } from './protocol/version.js';
