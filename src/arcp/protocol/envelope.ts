/** The envelope that all messages have (spec 003, "Canonical Envelope"). */
import * as z from 'zod/mini';
import type { MessageType, PayloadOf } from './catalogue.js';
import { isId, isTimestamp } from './ids.js';
import { id, members, timestamp } from './payloads/parts.js';

/** The version that this implementation writes. */
export const ARCP_VERSION = '1.0';

/** The versions that this implementation reads. */
export const SUPPORTED_VERSIONS: readonly string[] = [ARCP_VERSION];

export const VERSION = /^(?:0|[1-9][0-9]{0,8})\.(?:0|[1-9][0-9]{0,8})$/;

export function isVersion(value: unknown): value is string {
  return value === ARCP_VERSION || (typeof value === 'string' && VERSION.test(value));
}

/** Reports whether messages of a version are read: minor versions only add. */
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
  arcp: z.string().check(z.regex(VERSION, { error: 'a version is two numbers, such as "1.0"' })),
  id,
  timestamp,
  ...optionalIds,
};

export const anyEnvelopeSchema = z.looseObject({ ...envelopeFields, type: id, payload: members });

/** An envelope of any type whose payload is not validated. */
export type AnyEnvelope = z.output<typeof anyEnvelopeSchema>;

interface Fields extends z.output<z.ZodMiniObject<typeof envelopeFields>> {}

interface Typed<T extends MessageType> extends Fields {
  type: T;
  payload: PayloadOf<T>;
}

/** A message as on the wire; unknown members are kept. Without a type, the union of all, discriminated by `type`. */
export type Envelope<T extends MessageType = MessageType> = { [K in T]: Typed<K> }[T];

const OPTIONAL_IDS = Object.keys(optionalIds);

/** Checks the same as `anyEnvelopeSchema`, several times as fast, without issues. */
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
