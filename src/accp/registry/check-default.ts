/** What may be the default of a field: JSON that a frame carries exactly, so that both sides fill in the same. */
import { PLACES } from '../../text/decimal.js';
import { quotedShort } from '../../text/visible.js';
import { AccpError } from '../errors/accp-error.js';
import type { FieldType } from '../message/field-type.js';
import type { Json } from '../message/json.js';
import { bare, isPlainMap } from '../message/plain.js';
import { hasType } from '../message/values.js';

/** Nesting of a default, counted as that of a parameter's value: a scalar is 0. */
const MAX_DEPTH = 5;

/**
 * The default as data of its own.
 *
 * @param path the place in the registry, for errors
 * @throws AccpError E1004 on what is no JSON, or not exactly what a frame can hold, or not of the field's type
 */
export function checkDefault(value: unknown, type: FieldType | undefined, path: string): Json {
  const checked = checkJson(value, path, 0);
  if (type !== undefined && !hasType(checked, type)) throw refusal(path, `the field's type is ${type}`);
  return checked;
}

function checkJson(value: unknown, path: string, depth: number): Json {
  if (typeof value === 'number') return checkNumber(value, path);
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value !== 'object') throw refusal(path, `a value of type ${typeof value} is no JSON`);
  if (depth === MAX_DEPTH) throw refusal(path, `more than ${MAX_DEPTH} levels of nesting`);
  if (Array.isArray(value)) return Array.from(value, (item, at) => checkJson(item, `${path}[${at}]`, depth + 1));
  if (!isPlainMap(value)) throw refusal(path, 'neither a plain object nor an array');
  const copy = bare<Json>();
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member !== undefined) copy[key] = checkJson(member, `${path}.${key}`, depth + 1);
  }
  return copy;
}

function checkNumber(value: number, path: string): number {
  const digits = String(value);
  if (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value) || digits.includes('e')) {
    throw refusal(path, `${digits} is no number that every frame keeps`);
  }
  const point = digits.indexOf('.');
  if (point >= 0 && digits.length - point - 1 > PLACES) {
    throw refusal(path, `${digits} has more than ${PLACES} decimal places`);
  }
  // Frames know no negative zero.
  return value === 0 ? 0 : value;
}

function refusal(path: string, why: string): AccpError {
  return new AccpError({ code: 'E1004', message: `This cannot be a default: ${why}.`, path: shortened(path) });
}

/** Keys of hostile data can be of any length. */
function shortened(path: string): string {
  return path.length > 200 ? quotedShort(path) : path;
}
