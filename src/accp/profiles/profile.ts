/** What a domain profile is (draft-benzing-accp-00, section 10), and what its rules look at. */
import { AccpError, type AccpErrorCode } from '../errors.js';
import type { Json, SchemaDefinition } from '../message/json.js';
import type { Envelope } from '../message/message.js';
import type { ToolBook } from './tool-book.js';

/** A message on its way out or in, its payload with full key names. */
export interface ProfileMessage {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string | undefined;
  readonly payload: { readonly [key: string]: Json };
  readonly envelope: Partial<Envelope>;
}

/** The request that a `correlation_id` belongs to, as far as the session remembers it. */
export interface RememberedRequest {
  readonly schema?: string | undefined;
  /** Of the first transaction under the identifier, whatever was requested since. */
  readonly transactionId?: string | undefined;
}

export interface ProfileContext {
  readonly direction: 'send' | 'receive';
  readonly dialect: 'strict' | 'lenient';
  /**
   * The kind of the node that a received frame has under a full key: `string`, `integer`, `decimal`, ...; `undefined` where
   * it has none.
   */
  readonly wireKind?: ((key: string) => string | undefined) | undefined;
  /** Whether the value under a full key came without a loss. */
  readonly isExact?: ((key: string) => boolean) | undefined;
  readonly request?: RememberedRequest | undefined;
  /** The tools on this side; received requests are checked against them. */
  readonly tools?: ToolBook | undefined;
  /** Told what the draft recommends and the message does not keep. */
  readonly warn: (code: string, message: string, path?: string) => void;
}

export interface Profile {
  /** Of its schema: `TC`. */
  readonly code: string;
  /** `Tool / MCP` */
  readonly name: string;
  /** What registries call its schema. */
  readonly schemaName: string;
  readonly schema: SchemaDefinition;
  /**
   * Checks any message: those of the schema, and others that the profile has rules about.
   *
   * @throws AccpError on a message that breaks a rule
   */
  readonly check: (message: ProfileMessage, context: ProfileContext) => void;
}

/** The error of a message that breaks a rule. */
export function broken(path: string, message: string, help?: string, code: AccpErrorCode = 'E1004'): AccpError {
  return new AccpError({ code, message, path, help });
}

/** @throws AccpError E1004 where the message has no `correlation_id` */
export function requireCorrelation({ envelope }: ProfileMessage, why: string): void {
  if (envelope.correlation_id === undefined) throw broken('envelope.correlation_id', why);
}

/** A member of a payload, own properties only. */
export function member({ payload }: ProfileMessage, key: string): Json | undefined {
  return Object.hasOwn(payload, key) ? payload[key] : undefined;
}

/** @throws AccpError E1004 where the member is no text, or an empty one */
export function requireText(message: ProfileMessage, key: string, why: string): string {
  const value = member(message, key);
  if (typeof value !== 'string' || value === '') throw broken(`payload.${key}`, why);
  return value;
}
