/** The payload of a received frame: references, keys, defaults (draft-benzing-accp-00, section 7.3, steps 2 to 4). */
import type { Param } from '../ast.js';
import { accpError } from '../errors.js';
import { keyTable } from '../message/abbreviations.js';
import type { SchemaDefinition } from '../message/json.js';
import { type FieldType, type Json, type JsonObject, nullObject, Reference } from '../message/json.js';
import type { Loss } from '../message/message.js';
import { createReading, type Reading, readKey, readValue } from '../message/read-value.js';
import { type Dialect, parseFrame } from '../parse.js';
import { addDefaults } from '../registry/defaults.js';

interface PayloadRules {
  readonly code: string | undefined;
  readonly schema: SchemaDefinition | undefined;
  readonly types: { readonly [key: string]: FieldType } | undefined;
  readonly transliterated: boolean;
}

export type Resolve = (path: string, at: string) => Json;

interface PayloadReading {
  readonly payload: JsonObject;
  readonly losses: readonly Loss[];
}

/** Reads a payload. Throws AccpError E1001 for a duplicate key, E1004 for an unreadable value, and the errors of `resolve`. */
export function readPayload(params: readonly Param[], rules: PayloadRules, resolve: Resolve): PayloadReading {
  const { code, schema, types, transliterated } = rules;
  const table = keyTable(code);
  const reading = createReading({ transliterated, resolve });
  const payload = nullObject<Json>();
  for (const { key, value } of params) {
    if (key === 'schema') continue;
    const full = table.expand(readKey(key, reading));
    if (payload[full] !== undefined) {
      throw accpError('E1001', `payload.${key}`, `duplicate key "${full}", once abbreviated`);
    }
    payload[full] = readValue(value, full, reading, types?.[full]);
  }
  if (schema !== undefined) addDefaults(payload, schema);
  return { payload, losses: reading.losses };
}

export function wireKindOf(params: readonly Param[], full: string, rules: PayloadRules): string | undefined {
  const { code, transliterated } = rules;
  const table = keyTable(code);
  const reading: Reading = createReading({ transliterated, resolve: (path) => new Reference(path) });
  return params.find(({ key }) => table.expand(readKey(key, reading)) === full)?.value.kind;
}

/**
 * Returns a function that parses a payload again; references stay references. It lives long, so its closure must not retain the variables of
 * the caller.
 */
export function lazyPayload(text: string, dialect: Dialect, rules: PayloadRules): () => JsonObject {
  return () => readPayload(parseFrame(text, { dialect }).payload, rules, (path) => new Reference(path)).payload;
}

/** Reads a payload again, with `retained` in place of its references. */
export function retainedPayload(
  params: readonly Param[],
  rules: PayloadRules,
  retained: ReadonlyMap<string, Json>,
): JsonObject {
  return readPayload(params, rules, (path) => retained.get(path) ?? null).payload;
}
