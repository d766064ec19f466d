/** The definition of a domain profile (draft-benzing-accp-00, section 10). */

import type * as z from 'zod';
import { issueMessage } from '../../text/issue-message.js';
import { type AccpError, type AccpErrorCode, accpError } from '../errors.js';
import type { Json, SchemaDefinition } from '../message/json.js';
import type { Envelope, Message } from '../message/message.js';

export interface ProfileMessage extends Pick<Message, 'agent' | 'intent' | 'operation' | 'payload'> {
  readonly schema?: string | undefined;
  readonly envelope: { readonly [K in keyof Envelope]?: Envelope[K] | undefined };
}

export interface KnownRequest {
  readonly schema?: string | undefined;
  /** The first transaction of the chain, which later requests must keep (section 10.3). */
  readonly transactionId?: string | undefined;
}

export interface ProfileContext {
  readonly direction: 'send' | 'receive';
  readonly dialect: 'strict' | 'lenient';
  /** Returns the node kind of a received frame's parameter by its full key: `string`, `integer`, ... */
  readonly wireKind?: ((key: string) => string | undefined) | undefined;
  /** Returns true if the value of a full key was read without a loss. */
  readonly isExact?: ((key: string) => boolean) | undefined;
  readonly request?: KnownRequest | undefined;
  /** The tools on this side, to check received requests. */
  readonly tools?: Tools | undefined;
  /** Receives deviations from the recommendations of the draft. */
  readonly warn: (code: string, message: string, path?: string) => void;
}

/** A domain profile: a schema, and rules for messages (section 10). */
export interface Profile {
  /** The code of the schema, such as `TC`. */
  readonly code: string;
  /** The name of the profile, such as `Tool / MCP`. */
  readonly name: string;
  /** The name of the schema in registries. */
  readonly schemaName: string;
  /** The definition of the schema. */
  readonly schema: SchemaDefinition;
  /** Checks any message, of any schema. Throws AccpError if the message breaks a rule of the profile. */
  readonly check: (message: ProfileMessage, context: ProfileContext) => void;
}

export function violation(path: string, message: string, help?: string, code: AccpErrorCode = 'E1004'): AccpError {
  return accpError(code, path, message, help);
}

/** Throws AccpError E1004 if the message has no `correlation_id`. */
export function requireCorrelation({ envelope }: ProfileMessage, why: string): void {
  if (envelope.correlation_id === undefined) throw violation('envelope.correlation_id', why);
}

export function member({ payload }: Pick<ProfileMessage, 'payload'>, key: string): Json | undefined {
  return Object.hasOwn(payload, key) ? payload[key] : undefined;
}

/** Returns a member of the payload. Throws AccpError E1004 unless it is a non-empty string. */
export function requireText(message: ProfileMessage, key: string, why: string): string {
  const value = member(message, key);
  if (typeof value !== 'string' || value === '') throw violation(`payload.${key}`, why);
  return value;
}

/** A tool: the check of its arguments. */
export interface Tool {
  /** Returns one sentence about invalid arguments, which is sent to the caller; `null` if they are valid. */
  readonly check: (args: { readonly [name: string]: Json }) => string | null;
}

/** The tools of one side, by name. */
export interface Tools {
  readonly [name: string]: Tool;
}

/**
 * Defines the tools of this side by the zod schemas of their arguments.
 *
 * @example
 * createCodec({ tools: defineTools({ web_search: z.object({ query: z.string(), max_results: z.int().optional() }) }) });
 */
export function defineTools(schemas: { readonly [name: string]: z.ZodType }): Tools {
  const tools = Object.create(null) as { [name: string]: Tool };
  for (const name of Object.keys(schemas)) {
    const schema = schemas[name]!;
    tools[name] = { check: (args) => fault(schema.safeParse(args, { error: issueMessage })) };
  }
  return Object.freeze(tools);
}

function fault(result: z.ZodSafeParseResult<unknown>): string | null {
  if (result.success) return null;
  const { path, message } = result.error.issues[0]!;
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}
