/** The values of messages: JSON with exact big integers and references to state, their types, and the schemas that name fields. */
import { isRecord } from '../../text/guards.js';

/**
 * A value of a message's payload. A `bigint` stands for an integer beyond 2^53 - 1; a {@link Reference} for a value that
 * lies in state and not in the message.
 */
export type Json = null | boolean | number | bigint | string | Reference | JsonArray | JsonObject;

export type JsonArray = readonly Json[];

/** Objects that pegwire makes have no prototype, so that no key of a message reaches `Object.prototype`. */
export interface JsonObject {
  readonly [key: string]: Json;
}

const PATH = /^[A-Za-z0-9_.]+$/;

/**
 * A value that lies in state (draft-benzing-accp-00, sections 3.1 and 5.1): `$warm.ckpt_1.status` on the wire.
 *
 * It is a class so that data cannot pass for it: whoever forwards JSON from elsewhere in a message must not be made to read
 * state by it.
 */
export class Reference {
  /** What follows the dollar sign: `warm.ckpt_1.status`. */
  readonly path: string;

  /** @throws TypeError on a path that is not made of letters, digits, `_` and `.` */
  constructor(path: string) {
    if (!PATH.test(path)) throw new TypeError(`"${path}" is no path of a reference: letters, digits, "_" and "."`);
    this.path = path;
  }

  toJSON(): { readonly $ref: string } {
    return { $ref: this.path };
  }
}

/**
 * A reference for a message's payload.
 *
 * @throws TypeError on a path that is not made of letters, digits, `_` and `.`
 * @example
 * codec.encode({ intent: 'qry', operation: 'lookup', payload: { source: ref('cold.sales_db') } }, session);
 */
export function ref(path: string): Reference {
  return new Reference(path);
}

/** Arrays and maps within each other beyond this are refused wherever they stand, so that no recursion outgrows the stack. */
export const MOST_NESTING = 1_000;

/**
 * Whether an object is plain data: made by `{}` in any realm, or without a prototype. What else has a class (a date, a map, a
 * reference), and is none.
 */
export function isPlainObject(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'hasOwnProperty');
}

/** Whether a value is an object with keys: no array and no reference. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value) && !(value instanceof Reference);
}

/**
 * Whether a value is of a field's type. A whole number is a decimal, too; `null` has no type but `any`. A reference stands for
 * a value that is not here, and may be of any.
 */
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

/** What a value is, in words for an error message. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return isPlainObject(value) ? 'a map' : `an instance of ${className(value)}`;
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number';
  return `a ${typeof value}`;
}

function className(value: object): string {
  const made: unknown = value.constructor;
  return typeof made === 'function' && made.name !== '' ? made.name : 'a class';
}

/**
 * An object without a prototype, so that no key of a peer's reaches `Object.prototype`. Like `Object.create(null)`, but V8 keeps
 * it as it keeps other small objects, and not as a hash table, which takes twice as long to fill.
 */
export function bare<V>(): { [key: string]: V } {
  return Object.setPrototypeOf({}, null) as { [key: string]: V };
}

/** Whether a value is what frames write as a map: neither an array nor an instance of a class. */
export function isPlainMap(value: unknown): value is { readonly [key: string]: unknown } {
  return value !== null && typeof value === 'object' && isPlainObject(value);
}

/** A copy that shares nothing. @param value plain JSON of little depth */
export function copyOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isPlainMap(value)) return value;
  const copy = bare<Json>();
  for (const key of Object.keys(value)) copy[key] = copyOf((value as JsonObject)[key]!);
  return copy;
}

/** Freezes arrays and plain objects, and what they hold. */
function freezeAll<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freezeAll(member);
  }
  return value;
}

/**
 * JSON with sorted keys and without white space, so that equal data has one text.
 *
 * @param value plain JSON of little depth, without bigints and references
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isPlainMap(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson((value as JsonObject)[key]!)}`);
  return `{${members.join(',')}}`;
}

/**
 * What a schema may say of a field's values (draft-benzing-accp-00, section 6.2, which names fields only). A `string` field
 * is read as the text it is on the wire, so that `42` needs no other spelling.
 */
export const FIELD_TYPES = ['string', 'integer', 'decimal', 'number', 'boolean', 'array', 'map', 'any'] as const;

export type FieldType = (typeof FIELD_TYPES)[number];

/** One entry of a registry's `schemas`. Those of pegwire are frozen and without prototypes. */
export interface SchemaDefinition {
  /** What frames name the schema by, `schema:SR`: a letter, then letters and digits. */
  readonly code: string;
  /** From 1 on; a changed definition needs a higher one. */
  readonly version: number;
  /** Full names of the payload's keys. A payload may have others besides. */
  readonly fields: readonly string[];
  /** By field: what is not sent where it is equal, and filled in where it is absent. */
  readonly defaults?: { readonly [field: string]: Json };
  /** By field: settles how values are read, so that a text such as `42` stays one. An addition to the draft. */
  readonly types?: { readonly [field: string]: FieldType };
  /** Custom operations that come with the schema (section 4.3). */
  readonly operations?: readonly string[];
}

/** A definition without prototypes, frozen with all that it holds. It is not checked. */
export function sealDefinition(definition: SchemaDefinition): SchemaDefinition {
  const { defaults, types } = definition;
  const sealed: { [key: string]: unknown } = Object.assign(bare<unknown>(), definition);
  if (defaults !== undefined) sealed['defaults'] = Object.assign(bare(), defaults);
  if (types !== undefined) sealed['types'] = Object.assign(bare(), types);
  return freezeAll(sealed) as unknown as SchemaDefinition;
}
