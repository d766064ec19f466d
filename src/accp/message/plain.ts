/** Plain data of definitions: copied without prototypes, frozen, compared, and written canonically. */
import type { Json, JsonObject } from './json.js';
import { isPlainObject } from './values.js';

/** An object without a prototype, so that no key of a peer's reaches `Object.prototype`. */
export function bare<V>(): { [key: string]: V } {
  return Object.create(null) as { [key: string]: V };
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
export function freezeAll<T>(value: T): T {
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
