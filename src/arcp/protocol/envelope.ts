/** The envelope of all messages (spec 003, "Canonical Envelope"). */
import * as z from 'zod/mini';
import type { MessageType, PayloadOf } from './catalogue.js';
import { isId, isTimestamp } from './ids.js';
import { id, members, timestamp } from './payloads/parts.js';

/** The protocol version that this implementation writes. */
export const ARCP_VERSION = '1.0';

/** The protocol versions that this implementation announces. */
export const SUPPORTED_VERSIONS: readonly string[] = [ARCP_VERSION];

export const VERSION = /^(?:0|[1-9][0-9]{0,8})\.(?:0|[1-9][0-9]{0,8})$/;

/** Returns whether a value has the form of a version. */
export function isVersion(value: unknown): value is string {
  return value === ARCP_VERSION || (typeof value === 'string' && VERSION.test(value));
}

/** Returns whether messages of a version can be read. Later minor versions can, since they only add members. */
export function isSupported(version: string): boolean {
  return version === ARCP_VERSION || (version.startsWith('1.') && VERSION.test(version));
}

export const SUBPROTOCOL = 'arcp';

const optionalIds = {
  source: z.optional(id),
  target: z.optional(id),
  session_id: z.optional(id),
  job_id: z.optional(id),
  stream_id: z.optional(id),
  trace_id: z.optional(id),
  span_id: z.optional(id),
  parent_span_id: z.optional(id),
  correlation_id: z.optional(id),
  causation_id: z.optional(id),
};

export const envelopeFields = {
  arcp: z.string().check(z.regex(VERSION, { error: 'must be two numbers, such as "1.0"' })),
  id,
  timestamp,
  ...optionalIds,
};

export const anyEnvelopeSchema = z.looseObject({ ...envelopeFields, type: id, payload: members });

/** A message of any type, whose payload is not validated. */
export type AnyEnvelope = z.output<typeof anyEnvelopeSchema>;

interface Fields extends z.output<z.ZodMiniObject<typeof envelopeFields>> {}

interface Typed<T extends MessageType> extends Fields {
  type: T;
  payload: PayloadOf<T>;
}

/** A message. Unknown members are preserved. Without a type argument, the union of all types, discriminated by `type`. */
export type Envelope<T extends MessageType = MessageType> = { [K in T]: Typed<K> }[T];

const OPTIONAL_IDS = Object.keys(optionalIds);

/** Returns whether `anyEnvelopeSchema` accepts a value; several times as fast, but without issues. */
export function isEnvelope(value: unknown): value is AnyEnvelope {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const envelope = value as Readonly<Record<string, unknown>>;
  if (!isVersion(envelope['arcp']) || !isId(envelope['id']) || !isId(envelope['type'])) return false;
  if (typeof envelope['timestamp'] !== 'string' || !isTimestamp(envelope['timestamp'])) return false;
  const payload = envelope['payload'];
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return false;
  for (const name of OPTIONAL_IDS) {
    const given = envelope[name];
    if (given !== undefined && !isId(given)) return false;
  }
  return true;
}
