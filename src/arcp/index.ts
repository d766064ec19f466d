/**
 * The messages of ARCP, the Agent Runtime Control Protocol: envelopes, payloads, errors, parsing and printing. Public as `pegwire/arcp`. Runtimes
 * are in `pegwire/arcp/runtime`, and clients in `pegwire/arcp/client`.
 *
 * Source: spec 003.
 */
export { type ErrorJson, PegwireError } from '../text/errors.js';
export { type CheckOptions, checkLog, type LogRule, type Violation } from './logs/check.js';
export { ExecutionGraph, GraphBuilder, type GraphNode, type NodeKind, type NodeState } from './logs/graph.js';
export { mermaidText, type Paint, svgText, treeText } from './logs/render.js';
export { type Summary, summaryOf, type Tone } from './logs/summary.js';
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
  type EnvelopeErrorCode,
  type EnvelopeHeader,
  type Extensions,
  type Issue,
  MAX_DEPTH,
  MAX_MESSAGE_BYTES,
  parseEnvelope,
  printEnvelope,
  readEnvelope,
  tryParseEnvelope,
} from './protocol/codec.js';
export type { AnyEnvelope, Envelope } from './protocol/envelope.js';
export { ARCP_VERSION, isSupported, isVersion, SUPPORTED_VERSIONS } from './protocol/envelope.js';
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
export {
  formatTimestamp,
  type IdKind,
  isTimestamp,
  newId,
  newSpanId,
  newTraceId,
  parseTimestamp,
} from './protocol/ids.js';
export { JOB_DISPOSALS, type JobDisposal } from './protocol/payloads/control.js';
export { LOG_LEVELS, type LogLevel, logLevelOf } from './protocol/payloads/event.js';
export { CANCEL_CAUSES, type CancelCause } from './protocol/payloads/execution.js';
export {
  JOB_STATES,
  type JobState,
  SESSION_MODES,
  type SessionMode,
  TRUST_LEVELS,
  type TrustLevel,
} from './protocol/payloads/parts.js';
export { STREAM_KINDS, type StreamKind, streamKindOf } from './protocol/payloads/streaming.js';
export { messageJsonSchema, messageSchema } from './protocol/schema.js';
