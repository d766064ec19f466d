/** Values of messages: JSON with big integers and references to state; their types, and the definitions of schemas. */
import { isRecord } from '../../text/guards.js';

/** A value of a message's payload. A `bigint` is an integer beyond 2^53 - 1; a {@link Reference} names a value in state. */
export type Json = null | boolean | number | bigint | string | Reference | JsonArray | JsonObject;

/** A list of values. */
export type JsonArray = readonly Json[];

/** A map of values. Objects that pegwire creates have no prototype, so that keys of a message cannot reach `Object.prototype`. */
export interface JsonObject {
  readonly [key: string]: Json;
}

const PATH = /^[A-Za-z0-9_.]+$/;

/**
 * A reference to a value in state (draft-benzing-accp-00, sections 3.1 and 5.1): `$warm.ckpt_1.status` on the wire.
 *
 * It is a class, so that forwarded JSON cannot pass for a reference and read state.
 */
export class Reference {
  /** The path without the dollar sign: `warm.ckpt_1.status`. */
  readonly path: string;

  /** @throws TypeError if the path contains other characters than letters, digits, `_` and `.` */
  constructor(path: string) {
    if (!PATH.test(path))
      throw new TypeError(`Invalid path of a reference: "${path}"; use letters, digits, "_" and "."`);
    this.path = path;
  }

  /** Returns the reference as plain JSON, for logs. */
  toJSON(): { readonly $ref: string } {
    return { $ref: this.path };
  }
}

/**
 * Creates a reference for the payload of a message.
 *
 * @throws TypeError if the path contains other characters than letters, digits, `_` and `.`
 * @example
 * codec.encode({ intent: 'qry', operation: 'lookup', payload: { source: ref('cold.sales_db') } }, session);
 */
export function ref(path: string): Reference {
  return new Reference(path);
}

/** The deepest nesting of arrays and maps anywhere, which keeps recursion within the call stack. */
export const MAX_NESTING = 1_000;

/** Returns `true` if an object is plain data, of any realm or without a prototype, and not an instance of a class. */
export function isPlainObject(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'hasOwnProperty');
}

export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value) && !(value instanceof Reference);
}

/** Returns `true` if a value has a type. Integers are decimals, too; `null` has only the type `any`; a reference has every type. */
export function hasType(value: unknown, type: FieldType): boolean {
  if (type === 'any' || value instanceof Reference) return true;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return type === typeof value;
    case 'bigint':
      return type === 'integer' || type === 'decimal' || type === 'number';
    case 'number':
      return type === 'decimal' || type === 'number' || (type === 'integer' && Number.isInteger(value));
    case 'object':
      if (value === null) return false;
      return Array.isArray(value) ? type === 'array' : type === 'map' && isPlainObject(value);
    default:
      return false;
  }
}

export function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return isPlainObject(value) ? 'a map' : `an instance of ${className(value)}`;
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number';
  return `a ${typeof value}`;
}

function className(value: object): string {
  const type: unknown = value.constructor;
  return typeof type === 'function' && type.name !== '' ? type.name : 'a class';
}

/**
 * Creates an object without a prototype. Unlike that of `Object.create(null)`, V8 does not make it a hash table, which takes twice
 * as long to fill.
 */
export function nullObject<V>(): { [key: string]: V } {
  return Object.setPrototypeOf({}, null) as { [key: string]: V };
}

export function isPlainMap(value: unknown): value is { readonly [key: string]: unknown } {
  return value !== null && typeof value === 'object' && isPlainObject(value);
}

/** Copies a value deeply. @param value plain JSON of little depth */
export function copyJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyJson);
  if (!isPlainMap(value)) return value;
  const copy = nullObject<Json>();
  for (const key of Object.keys(value)) copy[key] = copyJson((value as JsonObject)[key]!);
  return copy;
}

function freezeAll<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freezeAll(member);
  }
  return value;
}

/** Returns JSON with sorted keys and without white space: equal values have equal texts. The value must be shallow and plain. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isPlainMap(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson((value as JsonObject)[key]!)}`);
  return `{${members.join(',')}}`;
}

/**
 * The types of fields: an addition to the draft, whose section 6.2 only names fields. A `string` field is read as its text on the
 * wire, so that `42` needs no other spelling.
 */
export const FIELD_TYPES = ['string', 'integer', 'decimal', 'number', 'boolean', 'array', 'map', 'any'] as const;

/** The type of a field of a schema. */
export type FieldType = (typeof FIELD_TYPES)[number];

/** The definition of a schema: one entry of a registry's `schemas` (section 6.2). */
export interface SchemaDefinition {
  /** The code that frames use, as in `schema:SR`: a letter, then letters and digits. */
  readonly code: string;
  /** The version, at least 1; a changed definition needs a higher one. */
  readonly version: number;
  /** The full names of the keys of the payload. A payload may have other keys, too. */
  readonly fields: readonly string[];
  /** Defaults by field: the sender omits equal values, and the receiver fills in absent ones. */
  readonly defaults?: { readonly [field: string]: Json };
  /** Types by field, so that a string such as `42` remains a string. An addition to the draft. */
  readonly types?: { readonly [field: string]: FieldType };
  /** Custom operations of the schema (section 4.3). */
  readonly operations?: readonly string[];
}

/** Returns a frozen copy without prototypes, unchecked. */
export function sealDefinition(definition: SchemaDefinition): SchemaDefinition {
  const { defaults, types } = definition;
  const sealed: { [key: string]: unknown } = Object.assign(nullObject<unknown>(), definition);
  if (defaults !== undefined) sealed['defaults'] = Object.assign(nullObject(), defaults);
  if (types !== undefined) sealed['types'] = Object.assign(nullObject(), types);
  return freezeAll(sealed) as unknown as SchemaDefinition;
}
