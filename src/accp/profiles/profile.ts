/** The definition of a domain profile (draft-benzing-accp-00, section 10). */

import type * as z from 'zod';
import { type AccpError, type AccpErrorCode, accpError } from '../errors.js';
import type { Json, SchemaDefinition } from '../message/json.js';
import type { Envelope, Message } from '../message/message.js';

export interface ProfileMessage extends Pick<Message, 'agent' | 'intent' | 'operation' | 'payload'> {
  readonly schema?: string | undefined;
  readonly envelope: Partial<Envelope>;
}

export interface RememberedRequest {
  readonly schema?: string | undefined;
  /** The first transaction under the identifier, which later requests must keep (section 10.3). */
  readonly transactionId?: string | undefined;
}

export interface ProfileContext {
  readonly direction: 'send' | 'receive';
  readonly dialect: 'strict' | 'lenient';
  /** Returns the node kind of a received frame's parameter by its full key: `string`, `integer`, ... */
  readonly wireKind?: ((key: string) => string | undefined) | undefined;
  /** Returns true if the value of a full key was read without a loss. */
  readonly isExact?: ((key: string) => boolean) | undefined;
  readonly request?: RememberedRequest | undefined;
  /** The tools on this side, to check received requests. */
  readonly tools?: Tools | undefined;
  /** Receives deviations from the draft's recommendations. */
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
  /** Checks any message; a profile may have rules beyond its schema. Throws AccpError on a broken rule. */
  readonly check: (message: ProfileMessage, context: ProfileContext) => void;
}

export function broken(path: string, message: string, help?: string, code: AccpErrorCode = 'E1004'): AccpError {
  return accpError(code, path, message, help);
}

/** @throws AccpError E1004 without a `correlation_id` */
export function requireCorrelation({ envelope }: ProfileMessage, why: string): void {
  if (envelope.correlation_id === undefined) throw broken('envelope.correlation_id', why);
}

export function member({ payload }: ProfileMessage, key: string): Json | undefined {
  return Object.hasOwn(payload, key) ? payload[key] : undefined;
}

/** @throws AccpError E1004 unless the member is a non-empty string */
export function requireText(message: ProfileMessage, key: string, why: string): string {
  const value = member(message, key);
  if (typeof value !== 'string' || value === '') throw broken(`payload.${key}`, why);
  return value;
}

/** The tools of one side and their arguments. */
export interface Tool {
  /** Returns one sentence about wrong arguments, for the caller; else `null`. */
  readonly check: (args: { readonly [name: string]: Json }) => string | null;
}

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
    tools[name] = { check: (args) => fault(schema.safeParse(args)) };
  }
  return Object.freeze(tools);
}

function fault(result: z.ZodSafeParseResult<unknown>): string | null {
  if (result.success) return null;
  const { path, message } = result.error.issues[0]!;
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}
