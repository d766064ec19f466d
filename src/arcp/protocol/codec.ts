/** Messages as text and back: one JSON object each (spec 003, "Canonical Envelope"). */
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { isLonger } from '../../text/bytes.js';
import type { Result } from '../../text/errors.js';
import { isDeeper, scalarMembers } from '../../text/json-text.js';
import { accepts } from './accepts.js';
import { describe } from './catalogue.js';
import {
  type AnyEnvelope,
  anyEnvelopeSchema,
  type Envelope,
  isEnvelope,
  isSupported,
  isVersion,
  SUPPORTED_VERSIONS,
} from './envelope.js';
import { ArcpError, type ErrorDetails, type KnownErrorCode } from './errors.js';
import { isId } from './ids.js';
import { readJson } from './json.js';

/** The default limit of a message, in bytes of UTF-8. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** The default limit of nested arrays and objects, the envelope included. */
export const MAX_DEPTH = 64;

/** Payload schemas of extension types: `x.VENDOR.NAME`, or a reversed domain. */
export type Extensions = Readonly<Record<string, z.core.$ZodType>>;

export interface CodecOptions {
  /** Limit of a message in bytes of UTF-8. @default 4 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** Limit of nested arrays and objects, the envelope included. @default 64 */
  readonly maxDepth?: number | undefined;
  readonly extensions?: Extensions | undefined;
}

/** One invalid member. */
export interface Issue {
  /** `payload.percent`, `timestamp`. */
  readonly path: string;
  readonly message: string;
}

/** The readable identifiers of a refused message; the refusal names them, so that no call waits for it. */
export type EnvelopeHeader = { readonly [Name in (typeof HEADER_MEMBERS)[number]]?: string | undefined };

const HEADER_MEMBERS = ['id', 'type', 'session_id', 'job_id', 'stream_id', 'correlation_id', 'trace_id'] as const;

export type MessageLimits = Pick<CodecOptions, 'maxMessageBytes' | 'maxDepth'>;

/**
 * A text or value that is not a message.
 *
 * - `INVALID_ARGUMENT`: not JSON, or invalid; `details.issues` has the members
 * - `UNSUPPORTED_VERSION`: `details.supported` has the versions
 * - `UNIMPLEMENTED`: unknown type
 * - `PAYLOAD_TOO_LARGE`: too long or too deep
 */
export class EnvelopeError extends ArcpError {
  override readonly name: string = 'EnvelopeError';
  declare readonly code: KnownErrorCode;
  readonly header: EnvelopeHeader;

  constructor(
    code: KnownErrorCode,
    message: string,
    { header, ...details }: ErrorDetails & { readonly header: EnvelopeHeader },
  ) {
    super(code, message, details);
    this.header = header;
  }

  get issues(): readonly Issue[] {
    return (this.details?.['issues'] as readonly Issue[] | undefined) ?? [];
  }
}

/**
 * Parses one message.
 *
 * Source: spec 003, "Canonical Envelope", "Schema-First".
 *
 * @throws EnvelopeError
 * @example
 * const envelope = parseEnvelope(line);
 * if (envelope.type === 'job.progress') console.log(envelope.payload.percent);
 */
export function parseEnvelope(text: string, options: CodecOptions = {}): Envelope {
  const result = tryParseEnvelope(text, options);
  if (result.ok) return result.value;
  throw result.error;
}

/** Reads one message like {@link parseEnvelope}, and returns the error. */
export function tryParseEnvelope(text: string, options: CodecOptions = {}): Result<Envelope, EnvelopeError> {
  const { maxMessageBytes = MAX_MESSAGE_BYTES, maxDepth = MAX_DEPTH } = options;
  if (isLonger(text, maxMessageBytes)) {
    return refuse('PAYLOAD_TOO_LARGE', `The message has more than ${maxMessageBytes} bytes`, headerOfText(text), {
      reason: 'too_long',
      max_message_bytes: maxMessageBytes,
    });
  }
  const reading = readJson(text, maxDepth);
  if (reading.ok) return readEnvelope(reading.value, options);
  const code = reading.fault === 'depth' ? 'PAYLOAD_TOO_LARGE' : 'INVALID_ARGUMENT';
  return refuse(code, reading.message, headerOfText(text), { reason: REASONS[reading.fault] });
}

const REASONS = {
  syntax: 'parse_error',
  depth: 'too_deep',
  number: 'number_out_of_range',
  'duplicate-key': 'duplicate_key',
} as const;

/** Validates a JSON value without copying it. Version and type are checked first: a later version may have another envelope. */
export function readEnvelope(
  value: unknown,
  { extensions = {} }: Pick<CodecOptions, 'extensions'> = {},
): Result<Envelope, EnvelopeError> {
  const isWellFormed = isEnvelope(value);
  const arcp = isWellFormed ? value.arcp : memberOf(value, 'arcp');
  if (isVersion(arcp) && !isSupported(arcp)) {
    const details = { supported: SUPPORTED_VERSIONS };
    return refuse('UNSUPPORTED_VERSION', `Version ${arcp} is not supported`, headerOf(value), details);
  }
  if (!isWellFormed) return refuseFor(value, judge(anyEnvelopeSchema, value).error!, []);
  const description = describe(value.type);
  const payload = description?.payload ?? (Object.hasOwn(extensions, value.type) ? extensions[value.type] : undefined);
  if (payload === undefined) {
    return refuse('UNIMPLEMENTED', `There is no message type ${JSON.stringify(value.type)}`, headerOf(value), {
      type: value.type,
    });
  }
  const required = description?.requires;
  if (required !== undefined && value[required] === undefined) {
    return refuse('INVALID_ARGUMENT', `A ${value.type} has a ${required}`, headerOf(value), {
      issues: [{ path: required, message: 'is required' }],
    });
  }
  // The schema of an extension may transform.
  if (description !== undefined && accepts(payload, value.payload)) return { ok: true, value: value as Envelope };
  const judged = judge(payload, value.payload);
  if (judged.success) return { ok: true, value: value as Envelope };
  return refuseFor(value, judged.error, ['payload']);
}

/** Refusals go over the wire, so they are English whatever locale zod has. */
const ENGLISH = /* @__PURE__ */ en();

export function judge<S extends z.core.$ZodType>(schema: S, value: unknown): z.core.util.SafeParseResult<z.output<S>> {
  return z.safeParse(schema, value, { error: ENGLISH.localeError });
}

/** Prints a message as one line. @throws ArcpError `INVALID_ARGUMENT` if it has no JSON: cyclic, too deep, a bigint */
export function printEnvelope(envelope: AnyEnvelope | Envelope): string {
  try {
    return JSON.stringify(envelope);
  } catch (cause) {
    throw new ArcpError('INVALID_ARGUMENT', `The ${envelope.type} has no JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Checks a printed message against the limits of its receiver. @throws ArcpError `PAYLOAD_TOO_LARGE` */
export function assertReadable(text: string, type: string, limits: MessageLimits = {}): void {
  const { maxMessageBytes = MAX_MESSAGE_BYTES, maxDepth = MAX_DEPTH } = limits;
  if (isLonger(text, maxMessageBytes)) {
    const details = { reason: 'too_long', max_message_bytes: maxMessageBytes };
    throw new ArcpError('PAYLOAD_TOO_LARGE', `The ${type} has more than ${maxMessageBytes} bytes`, { details });
  }
  if (isDeeper(text, maxDepth)) {
    const details = { reason: 'too_deep', max_depth: maxDepth };
    const message = `The ${type} nests arrays and objects more than ${maxDepth} levels deep`;
    throw new ArcpError('PAYLOAD_TOO_LARGE', message, { details });
  }
}

/** Validates a message. @throws EnvelopeError */
export function assertEnvelope(
  value: unknown,
  options: Pick<CodecOptions, 'extensions'> = {},
): asserts value is Envelope {
  const result = readEnvelope(value, options);
  if (!result.ok) throw result.error;
}

function refuseFor(
  value: unknown,
  error: z.core.$ZodError,
  prefix: readonly PropertyKey[],
): Result<never, EnvelopeError> {
  const issues = error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({
    path: shortened([...prefix, ...path].map(String).join('.')),
    message: shortened(message),
  }));
  const left = error.issues.length - issues.length;
  const all = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  if (left > 0) all.push(`${left} more`);
  return refuse('INVALID_ARGUMENT', all.join('; '), headerOf(value), { issues });
}

function refuse(
  code: KnownErrorCode,
  message: string,
  header: EnvelopeHeader,
  details?: Readonly<Record<string, unknown>>,
): Result<never, EnvelopeError> {
  return { ok: false, error: new EnvelopeError(code, message, { details, header }) };
}

function headerOf(value: unknown): EnvelopeHeader {
  return Object.fromEntries(
    HEADER_MEMBERS.flatMap((name) => {
      const member = memberOf(value, name);
      return isId(member) ? [[name, member]] : [];
    }),
  );
}

export function headerOfText(text: string): EnvelopeHeader {
  return headerOf(scalarMembers(text, new Set(HEADER_MEMBERS))[0]);
}

/** Bounds of a refusal, however large the refused message is. */
const MAX_ISSUES = 20;
const MAX_ISSUE_LENGTH = 500;

function shortened(text: string): string {
  return text.length > MAX_ISSUE_LENGTH ? `${text.slice(0, MAX_ISSUE_LENGTH)}...` : text;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
