/**
 * Defaults of fields (draft-benzing-accp-00, sections 3.3 item 5, 7.2 step 4, 7.3 step 4).
 *
 * To the draft, a field that is absent and one that holds its default are the same message: the sender leaves the second out,
 * the receiver fills both in. So a message comes back with all of its schema's defaults, whichever of them it was given.
 */
import type { FieldType } from '../message/field-type.js';
import type { Json } from '../message/json.js';
import { bare, copyOf, isPlainMap } from '../message/plain.js';
import type { SchemaDefinition } from '../message/schema-definition.js';

/** A payload with full key names. */
export interface Payload {
  readonly [key: string]: Json;
}

/**
 * The payload without the fields that hold their default; the payload itself where there are none.
 * {@link fillDefaults} is the way back.
 */
export function omitDefaults(payload: Payload, schema: SchemaDefinition): Payload {
  const { defaults } = schema;
  if (defaults === undefined) return payload;
  let holdsSome = false;
  for (const field in defaults) if (holdsDefault(payload, field, defaults)) holdsSome = true;
  if (!holdsSome) return payload;
  const rest = bare<Json>();
  for (const key of Object.keys(payload)) {
    if (!(Object.hasOwn(defaults, key) && holdsDefault(payload, key, defaults))) rest[key] = payload[key]!;
  }
  return rest;
}

/**
 * The payload with the defaults of absent fields, behind what it has. The result has no prototype; it is the payload itself
 * where nothing was to be done. Defaults are copied: they are the receiver's to change.
 */
export function fillDefaults(payload: Payload, schema: SchemaDefinition): Payload {
  const { defaults } = schema;
  const isBare = Object.getPrototypeOf(payload) === null;
  const isWhole = defaults === undefined || Object.keys(defaults).every((field) => payload[field] !== undefined);
  if (isBare && isWhole) return payload;
  const filled = copied(payload);
  addDefaults(filled, schema);
  return filled;
}

/** Puts the defaults of absent fields into a payload without a prototype, behind what it has. */
export function addDefaults(payload: { [key: string]: Json }, { defaults }: SchemaDefinition): void {
  if (defaults === undefined) return;
  for (const field in defaults) if (payload[field] === undefined) payload[field] = copyOf(defaults[field]!);
}

/** What a schema says of a field's values; `undefined` where it says nothing. */
export function fieldType(schema: SchemaDefinition | undefined, key: string): FieldType | undefined {
  const types = schema?.types;
  return types !== undefined && Object.hasOwn(types, key) ? types[key] : undefined;
}

function copied(payload: Payload): { [key: string]: Json } {
  const copy = bare<Json>();
  for (const key of Object.keys(payload)) copy[key] = payload[key]!;
  return copy;
}

function holdsDefault(payload: Payload, field: string, defaults: Payload): boolean {
  return Object.hasOwn(payload, field) && isEqual(payload[field], defaults[field]!);
}

/**
 * Whether a value is what the default is, so that nothing is lost when it is left out. Its depth is bounded by that of the
 * default, whatever the value is.
 */
function isEqual(value: unknown, standard: Json): boolean {
  // -0 is not 0: what is left out would come back changed, and nobody would be told.
  if (standard === null || typeof standard !== 'object') return Object.is(value, standard);
  if (Array.isArray(standard)) {
    if (!Array.isArray(value) || value.length !== standard.length) return false;
    return standard.every((item, at) => isEqual(value[at], item));
  }
  if (!isPlainMap(value) || !isPlainMap(standard)) return false;
  const keys = Object.keys(standard);
  for (const key of keys) {
    if (!Object.hasOwn(value, key) || !isEqual(value[key], standard[key] as Json)) return false;
  }
  for (const key in value) if (value[key] !== undefined && !Object.hasOwn(standard, key)) return false;
  return true;
}
