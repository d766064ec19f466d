/** What values are: plain data or not, and of which type. */
import { isRecord } from '../../text/guards.js';
import type { FieldType } from './field-type.js';
import type { JsonObject } from './json.js';
import { Reference } from './reference.js';

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
