/** Messages that a runtime sends. */
import { isDeeper } from '../../../text/json-text.js';
import type { MessageType, PayloadOf } from '../../protocol/catalogue.js';
import { type MessageLimits, printEnvelope } from '../../protocol/codec.js';
import { ARCP_VERSION, type Envelope } from '../../protocol/envelope.js';
import type { ArcpError, ErrorBody } from '../../protocol/errors.js';
import { formatTimestamp, newId, newSpanId, newTraceId } from '../../protocol/ids.js';

/** The place of a message in a trace (spec 003, "Observability": "All messages SHOULD include trace_id, span_id"). */
export interface Trace {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
}

export interface Cause {
  readonly id: string;
  readonly trace_id?: string | undefined;
  readonly span_id?: string | undefined;
}

/** Creates a child span of a command; the trace is new if the command has none. */
export function traceBelow({ trace_id, span_id }: Pick<Cause, 'trace_id' | 'span_id'>): Trace {
  return {
    traceId: trace_id ?? newTraceId(),
    spanId: newSpanId(),
    parentSpanId: span_id,
  };
}

const MAX_ERROR_LENGTH = 64 * 1024;
const MAX_ERROR_DEPTH = 16;
/** The smallest message limit that a client can announce; an error with its envelope fits into it. */
export const MIN_MESSAGE_BYTES = 4096;

/** Returns an error as a payload; without its details if it is too large for the receiver or JSON cannot represent it. */
export function boundedBody(
  error: ArcpError,
  { maxMessageBytes = Number.POSITIVE_INFINITY }: MessageLimits = {},
): ErrorBody {
  const { code, message, retryable } = error;
  // A character takes at most six bytes.
  const maxLength = Math.min(MAX_ERROR_LENGTH, maxMessageBytes / 6 - 256);
  const bare = { code, message: message.slice(0, maxLength / 4), retryable };
  try {
    const body = error.toBody();
    const text = JSON.stringify(body);
    return text.length > maxLength || isDeeper(text, MAX_ERROR_DEPTH) ? bare : body;
  } catch {
    return bare;
  }
}

export interface Draft<T extends MessageType = MessageType> {
  readonly type: T;
  readonly payload: PayloadOf<T>;
  readonly trace: Trace;
  readonly sessionId?: string | undefined;
  readonly jobId?: string | undefined;
  readonly streamId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly causationId?: string | undefined;
  readonly source?: string | undefined;
}

export interface ComposedMessage {
  readonly envelope: Envelope;
  readonly body: string;
}

export function compose<T extends MessageType>(draft: Draft<T>, now: number): ComposedMessage {
  const { type, payload, trace, sessionId, jobId, streamId, correlationId, causationId, source = 'runtime' } = draft;
  // One literal, whose absent members JSON omits: spreads, and members that are added later, take several times as long.
  const envelope = {
    arcp: ARCP_VERSION,
    id: newId('msg'),
    type,
    timestamp: formatTimestamp(now),
    source,
    session_id: sessionId,
    job_id: jobId,
    stream_id: streamId,
    trace_id: trace.traceId,
    span_id: trace.spanId,
    parent_span_id: trace.parentSpanId,
    correlation_id: correlationId,
    causation_id: causationId,
    payload,
  } as Envelope;
  return { envelope, body: printEnvelope(envelope) };
}
