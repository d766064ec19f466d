/** Defaults of fields, which the sender omits and the receiver fills in (draft-benzing-accp-00, sections 3.3, 7.2 and 7.3). */

import { PLACES } from '../../text/decimal.js';
import { quotedShort } from '../../text/visible.js';
import { type AccpError, accpError } from '../errors.js';
import {
  copyJson,
  type FieldType,
  hasType,
  isPlainMap,
  type Json,
  nullObject,
  type SchemaDefinition,
} from '../message/json.js';

interface Payload {
  readonly [key: string]: Json;
}

/** Returns the payload without the fields that hold their default. {@link addDefaults} is the inverse. */
export function omitDefaults(payload: Payload, schema: SchemaDefinition): Payload {
  const { defaults } = schema;
  if (defaults === undefined) return payload;
  let holdsSome = false;
  for (const field in defaults) if (holdsDefault(payload, field, defaults)) holdsSome = true;
  if (!holdsSome) return payload;
  const rest = nullObject<Json>();
  for (const key of Object.keys(payload)) {
    if (!(Object.hasOwn(defaults, key) && holdsDefault(payload, key, defaults))) rest[key] = payload[key]!;
  }
  return rest;
}

/** Appends the defaults of absent fields to a payload without a prototype. */
export function addDefaults(payload: { [key: string]: Json }, { defaults }: SchemaDefinition): void {
  if (defaults === undefined) return;
  for (const field in defaults) if (payload[field] === undefined) payload[field] = copyJson(defaults[field]!);
}

export function fieldType(schema: SchemaDefinition | undefined, key: string): FieldType | undefined {
  const types = schema?.types;
  return types !== undefined && Object.hasOwn(types, key) ? types[key] : undefined;
}

function holdsDefault(payload: Payload, field: string, defaults: Payload): boolean {
  return Object.hasOwn(payload, field) && isEqual(payload[field], defaults[field]!);
}

/** Compares values, to the depth of the default only. */
function isEqual(value: unknown, expected: Json): boolean {
  // Strict for -0, whose sign would be lost without a report.
  if (expected === null || typeof expected !== 'object') return Object.is(value, expected);
  if (Array.isArray(expected)) {
    if (!Array.isArray(value) || value.length !== expected.length) return false;
    return expected.every((item, at) => isEqual(value[at], item));
  }
  if (!isPlainMap(value) || !isPlainMap(expected)) return false;
  const keys = Object.keys(expected);
  for (const key of keys) {
    if (!Object.hasOwn(value, key) || !isEqual(value[key], expected[key] as Json)) return false;
  }
  for (const key in value) if (value[key] !== undefined && !Object.hasOwn(expected, key)) return false;
  return true;
}

/** Deepest nesting of a default; a scalar is 0. */
const MAX_DEPTH = 5;

/**
 * Copies a default. Throws AccpError E1004 at `path` if it is not JSON, cannot be written exactly, or has a type other than the
 * field.
 */
export function checkDefault(value: unknown, type: FieldType | undefined, path: string): Json {
  const checked = checkJson(value, path, 0);
  if (type !== undefined && !hasType(checked, type))
    throw invalidDefault(path, `it does not have the type of the field, ${type}`);
  return checked;
}

function checkJson(value: unknown, path: string, depth: number): Json {
  if (typeof value === 'number') return checkNumber(value, path);
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value !== 'object') throw invalidDefault(path, `a value of type ${typeof value} is not JSON`);
  if (depth === MAX_DEPTH) throw invalidDefault(path, `it nests deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return Array.from(value, (item, at) => checkJson(item, `${path}[${at}]`, depth + 1));
  if (!isPlainMap(value)) throw invalidDefault(path, 'it is an instance of a class');
  const copy = nullObject<Json>();
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member !== undefined) copy[key] = checkJson(member, `${path}.${key}`, depth + 1);
  }
  return copy;
}

function checkNumber(value: number, path: string): number {
  const digits = String(value);
  if (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value) || digits.includes('e')) {
    throw invalidDefault(path, `frames cannot write ${digits} exactly`);
  }
  const point = digits.indexOf('.');
  if (point >= 0 && digits.length - point - 1 > PLACES) {
    throw invalidDefault(path, `${digits} has more than ${PLACES} decimal places`);
  }
  // Frames have no negative zero.
  return value === 0 ? 0 : value;
}

function invalidDefault(path: string, why: string): AccpError {
  return accpError('E1004', shortened(path), `Invalid default: ${why}.`);
}

/** Keys from outside can be of any length. */
function shortened(path: string): string {
  return path.length > 200 ? quotedShort(path) : path;
}
