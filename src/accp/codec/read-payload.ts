/** The payload of a received frame: references, keys, defaults (draft-benzing-accp-00, section 7.3, steps 2 to 4). */
import type { Param } from '../ast.js';
import { accpError } from '../errors.js';
import { keyTable } from '../message/abbreviations.js';
import type { SchemaDefinition } from '../message/json.js';
import { bare, type FieldType, type Json, type JsonObject, Reference } from '../message/json.js';
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

/** @throws AccpError E1001 for a repeated key, E1004 for an unreadable value; and what `resolve` throws */
export function readPayload(params: readonly Param[], rules: PayloadRules, resolve: Resolve): PayloadReading {
  const { code, schema, types, transliterated } = rules;
  const table = keyTable(code);
  const reading = createReading({ transliterated, resolve });
  const payload = bare<Json>();
  for (const { key, value } of params) {
    if (key === 'schema') continue;
    const full = table.expand(readKey(key, reading));
    if (payload[full] !== undefined) {
      throw accpError('E1001', `payload.${key}`, `"${full}" is there twice, also abbreviated`);
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

/** A separate function, because the closure is kept for long: it must not retain the variables of its caller. */
export function rereading(text: string, dialect: Dialect, rules: PayloadRules): () => JsonObject {
  return () => heldPayload(parseFrame(text, { dialect }).payload, rules, NOTHING_HELD);
}

/** Reads a payload again, with `held` in place of its references. */
export function heldPayload(
  params: readonly Param[],
  rules: PayloadRules,
  held: ReadonlyMap<string, Json>,
): JsonObject {
  return readPayload(params, rules, (path) => held.get(path) ?? null).payload;
}

const NOTHING_HELD: ReadonlyMap<string, Json> = new Map();
