/** Parsing and printing of messages, one JSON object each (spec 003, "Canonical Envelope"). */
import * as z from 'zod/mini';
import { isLonger } from '../../text/bytes.js';
import type { Result } from '../../text/errors.js';
import { issueMessage } from '../../text/issue-message.js';
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
import { ArcpError, type ErrorDetails } from './errors.js';
import { isId } from './ids.js';
import { readJson } from './json.js';

/** The default length limit of a message, in bytes of UTF-8. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** The default limit of nested arrays and objects, including the envelope. */
export const MAX_DEPTH = 64;

/** Payload schemas by extension type: `x.VENDOR.NAME`, or a reversed domain. */
export type Extensions = Readonly<Record<string, z.core.$ZodType>>;

/** Options of parsing. */
export interface CodecOptions {
  /** The longest message in bytes of UTF-8. @default 4194304 (4 MiB) */
  readonly maxMessageBytes?: number | undefined;
  /** The maximum number of levels of nested arrays and objects, including the envelope. @default 64 */
  readonly maxDepth?: number | undefined;
  /** Extension types to accept. @default none */
  readonly extensions?: Extensions | undefined;
}

/** An invalid member of a message. */
export interface Issue {
  /** The path of the member: `payload.percent`, `timestamp`. */
  readonly path: string;
  /** A description of the problem. */
  readonly message: string;
}

/** The identifiers of an invalid message, as far as they can be read. A refusal names them, so that the call fails instead of waiting. */
export type EnvelopeHeader = { readonly [Name in (typeof HEADER_MEMBERS)[number]]?: string | undefined };

const HEADER_MEMBERS = ['id', 'type', 'session_id', 'job_id', 'stream_id', 'correlation_id', 'trace_id'] as const;

export type MessageLimits = Pick<CodecOptions, 'maxMessageBytes' | 'maxDepth'>;

/** The codes of an {@link EnvelopeError}. */
export type EnvelopeErrorCode = 'INVALID_ARGUMENT' | 'UNSUPPORTED_VERSION' | 'UNIMPLEMENTED' | 'PAYLOAD_TOO_LARGE';

/**
 * The error of a text or value that is not a valid message.
 *
 * - `INVALID_ARGUMENT`: it is not JSON, or a member is invalid; `details.issues` lists the members
 * - `UNSUPPORTED_VERSION`: the version is not supported; `details.supported` lists the supported ones
 * - `UNIMPLEMENTED`: the message type is unknown
 * - `PAYLOAD_TOO_LARGE`: it is too long or nested too deeply
 */
export class EnvelopeError extends ArcpError {
  /** The name of the class. */
  override readonly name: string = 'EnvelopeError';
  /** A code of the protocol's table of errors. */
  declare readonly code: EnvelopeErrorCode;
  /** The identifiers of the message, as far as they can be read. */
  readonly header: EnvelopeHeader;

  constructor(
    code: EnvelopeErrorCode,
    message: string,
    { header, ...details }: ErrorDetails & { readonly header: EnvelopeHeader },
  ) {
    super(code, message, details);
    this.header = header;
  }

  /** The invalid members; empty if the error is about the whole message. */
  get issues(): readonly Issue[] {
    return (this.details?.['issues'] as readonly Issue[] | undefined) ?? [];
  }
}

/**
 * Parses one message.
 *
 * Source: spec 003, "Canonical Envelope", "Schema-First".
 *
 * @throws EnvelopeError if the text is not a valid message
 * @example
 * const envelope = parseEnvelope(line);
 * if (envelope.type === 'job.progress') console.log(envelope.payload.percent);
 */
export function parseEnvelope(text: string, options: CodecOptions = {}): Envelope {
  const result = tryParseEnvelope(text, options);
  if (result.ok) return result.value;
  throw result.error;
}

/** Parses one message as {@link parseEnvelope}, but returns the error. */
export function tryParseEnvelope(text: string, options: CodecOptions = {}): Result<Envelope, EnvelopeError> {
  const { maxMessageBytes = MAX_MESSAGE_BYTES, maxDepth = MAX_DEPTH } = options;
  if (isLonger(text, maxMessageBytes)) {
    return refuse('PAYLOAD_TOO_LARGE', `The message is longer than ${maxMessageBytes} bytes`, headerOfText(text), {
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

/** Validates a JSON value without copying it. The version and the type are checked first, since a later version may have another envelope. */
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
  if (!isWellFormed) return refuseFor(value, validate(anyEnvelopeSchema, value).error!, []);
  const description = describe(value.type);
  const payload = description?.payload ?? (Object.hasOwn(extensions, value.type) ? extensions[value.type] : undefined);
  if (payload === undefined) {
    return refuse('UNIMPLEMENTED', `The message type ${JSON.stringify(value.type)} is unknown`, headerOf(value), {
      type: value.type,
    });
  }
  const required = description?.requires;
  if (required !== undefined && value[required] === undefined) {
    return refuse('INVALID_ARGUMENT', `${value.type} requires ${required}`, headerOf(value), {
      issues: [{ path: required, message: 'is required' }],
    });
  }
  // The schema of an extension may transform.
  if (description !== undefined && accepts(payload, value.payload)) return { ok: true, value: value as Envelope };
  const parsed = validate(payload, value.payload);
  if (parsed.success) return { ok: true, value: value as Envelope };
  return refuseFor(value, parsed.error, ['payload']);
}

export function validate<S extends z.core.$ZodType>(
  schema: S,
  value: unknown,
): z.core.util.SafeParseResult<z.output<S>> {
  return z.safeParse(schema, value, { error: issueMessage });
}

/** Prints a message as one line of JSON. @throws ArcpError `INVALID_ARGUMENT` if JSON cannot represent it: a cycle, a bigint */
export function printEnvelope(envelope: AnyEnvelope | Envelope): string {
  try {
    return JSON.stringify(envelope);
  } catch (cause) {
    throw new ArcpError(
      'INVALID_ARGUMENT',
      `The ${envelope.type} cannot be printed as JSON: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** Asserts that a printed message is within the limits of its receiver. @throws ArcpError `PAYLOAD_TOO_LARGE` */
export function assertReadable(text: string, type: string, limits: MessageLimits = {}): void {
  const { maxMessageBytes = MAX_MESSAGE_BYTES, maxDepth = MAX_DEPTH } = limits;
  if (isLonger(text, maxMessageBytes)) {
    const details = { reason: 'too_long', max_message_bytes: maxMessageBytes };
    throw new ArcpError('PAYLOAD_TOO_LARGE', `The ${type} is longer than ${maxMessageBytes} bytes`, { details });
  }
  if (isDeeper(text, maxDepth)) {
    const details = { reason: 'too_deep', max_depth: maxDepth };
    const message = `The ${type} nests arrays and objects more than ${maxDepth} levels deep`;
    throw new ArcpError('PAYLOAD_TOO_LARGE', message, { details });
  }
}

/** Asserts that a value is a valid message. @throws EnvelopeError if it is not */
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
  const omitted = error.issues.length - issues.length;
  const all = issues.map(({ path, message }) => (path === '' ? `The message ${message}` : `${path}: ${message}`));
  if (omitted > 0) all.push(`${omitted} more`);
  return refuse('INVALID_ARGUMENT', all.join('; '), headerOf(value), { issues });
}

function refuse(
  code: EnvelopeErrorCode,
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

/** Limits of a refusal, which do not depend on the size of the refused message. */
const MAX_ISSUES = 20;
const MAX_ISSUE_LENGTH = 500;

function shortened(text: string): string {
  return text.length > MAX_ISSUE_LENGTH ? `${text.slice(0, MAX_ISSUE_LENGTH)}...` : text;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
