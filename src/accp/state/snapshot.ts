/** Values on their way into state: checked, copied and frozen, so that nobody changes them from outside. */

import { byCodeUnit } from '../../text/ascii.js';
import { AccpError } from '../errors/accp-error.js';
import type { Json, JsonObject } from '../message/json.js';
import { Reference } from '../message/reference.js';
import { MOST_NESTING } from '../message/values.js';

/** As deep as a message can be, whose payload is a map itself. Deeper values are a mistake, such as one that holds itself. */
const MAX_DEPTH = MOST_NESTING + 1;

/**
 * A frozen copy with the keys of its objects in order, so that equal values have equal texts.
 *
 * @throws AccpError with code `E1004` and the path on what is no JSON, big integer or reference
 */
export function snapshot(value: Json, path: string): Json {
  return copy(value, path, 0);
}

/**
 * Like {@link snapshot}, for an object.
 *
 * @throws AccpError with code `E1004` and the path
 */
export function snapshotObject(value: JsonObject, path: string): JsonObject {
  const copied = snapshot(value, path);
  if (!isObject(copied)) throw refused(path, 'an object is needed');
  return copied;
}

function copy(value: Json, path: string, depth: number): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw refused(path, `${value} cannot be kept`);
      // Text has no -0.
      return value === 0 ? 0 : value;
    case 'object':
      break;
    default:
      throw refused(path, `a value of type ${typeof value} cannot be kept`);
  }
  if (value === null || value instanceof Reference) return value;
  if (depth === MAX_DEPTH) throw refused(path, `nested deeper than ${MAX_DEPTH}`);
  if (Array.isArray(value)) {
    // Not map, which skips holes.
    return Object.freeze(
      Array.from(value as readonly Json[], (item, index) => copy(item, `${path}[${index}]`, depth + 1)),
    );
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw refused(path, 'only plain objects can be kept');
  const copied: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(value).sort(byCodeUnit)) {
    copied[key] = copy((value as JsonObject)[key]!, `${path}.${key}`, depth + 1);
  }
  return Object.freeze(copied);
}

/** Whether a value is an object with keys. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference);
}

function refused(path: string, message: string): AccpError {
  return new AccpError({ code: 'E1004', message, path });
}
