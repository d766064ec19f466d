/**
 * JSON text in a string, for values that are nested too deeply for a frame. Big integers and references are strings that begin with
 * `#` and `$`; a string that would begin with one of these marks or `=` is prefixed with `=`.
 */

import type { AccpError } from '../errors.js';
import { describeType, isPlainObject, type Json, MAX_NESTING, Reference } from './json.js';
import { checkBigint, checkedInteger, checkFinite, countItems, unwritable, type Writing } from './writing.js';

export function toJsonText(value: unknown, writing: Writing): string {
  return JSON.stringify(plainCopy(value, writing, spell));
}

function spell(value: string | bigint | Reference): string {
  if (typeof value === 'bigint') return `#${value}`;
  if (value instanceof Reference) return `$${value.path}`;
  return /^[#$=]/.test(value) ? `=${value}` : value;
}

export class BadJsonText extends Error {}

const BIG_INTEGER = /^#-?[0-9]{1,1000}$/;
const REFERENCE = /^\$[A-Za-z0-9_.]+$/;

/**
 * Parses the output of {@link toJsonText} into objects without a prototype. Throws BadJsonText if the text is spelled in any other way, as
 * it might not be read exactly.
 */
export function fromJsonText(text: string, resolve: (path: string) => Json): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
    // A repeated key, or a number with too many digits, prints differently.
    if (JSON.stringify(value) !== text)
      throw new BadJsonText('the JSON text is not in the form that the encoder writes');
  } catch (thrown) {
    if (thrown instanceof BadJsonText) throw thrown;
    throw new BadJsonText('the JSON text is malformed');
  }
  return revived(value, resolve, 0);
}

function revived(value: unknown, resolve: (path: string) => Json, depth: number): Json {
  if (typeof value === 'string') return revivedText(value, resolve);
  if (typeof value !== 'object' || value === null) return value as boolean | number | null;
  if (depth >= MAX_NESTING) throw new BadJsonText(`the JSON text nests deeper than ${MAX_NESTING} levels`);
  if (Array.isArray(value)) return value.map((item: unknown) => revived(item, resolve, depth + 1));
  const map: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(value)) {
    map[key] = revived((value as Readonly<Record<string, unknown>>)[key], resolve, depth + 1);
  }
  return map;
}

function revivedText(text: string, resolve: (path: string) => Json): Json {
  switch (text[0]) {
    case '=':
      return text.slice(1);
    case '#':
      if (!BIG_INTEGER.test(text)) throw new BadJsonText('the JSON text contains an invalid big integer');
      return BigInt(text.slice(1));
    case '$':
      if (!REFERENCE.test(text)) throw new BadJsonText('the JSON text contains an invalid reference');
      return resolve(text.slice(1));
    default:
      return text;
  }
}

type ToJson = (value: string | bigint | Reference) => Json;

/**
 * Copies a JSON value. Members that are `undefined` are left out, -0 is a loss, and numbers keep all their places. Throws AccpError
 * E1004 with the path if a value is not JSON, contains itself or is nested too deeply.
 */
export function plainCopy(value: unknown, writing: Writing, spell: ToJson = asIs): Json {
  return copy(value, writing, spell, new Set());
}

function asIs(value: string | bigint | Reference): Json {
  return value;
}

function copy(value: unknown, writing: Writing, spell: ToJson, open: Set<object>): Json {
  switch (typeof value) {
    case 'string':
      return spell(value);
    case 'boolean':
      return value;
    case 'number':
      if (Number.isInteger(value)) return checkedInteger(value, writing);
      checkFinite(value, writing);
      return value;
    case 'bigint':
      checkBigint(value, writing);
      return spell(value);
    case 'object':
      if (value === null) return null;
      return value instanceof Reference ? spell(value) : copyContainer(value, writing, spell, open);
    default:
      throw notJson(value, writing);
  }
}

function copyContainer(value: object, writing: Writing, spell: ToJson, open: Set<object>): Json {
  if (open.has(value)) throw containsItself(writing);
  if (writing.path.length > MAX_NESTING) throw tooDeep(writing, MAX_NESTING);
  open.add(value);
  const copied = Array.isArray(value)
    ? copyArray(value, writing, spell, open)
    : copyMap(checkedMap(value, writing), writing, spell, open);
  open.delete(value);
  return copied;
}

function copyArray(list: readonly unknown[], writing: Writing, spell: ToJson, open: Set<object>): Json {
  countItems(writing, list.length);
  const { path } = writing;
  const level = path.push(0) - 1;
  const items: Json[] = [];
  for (let index = 0; index < list.length; index++) {
    path[level] = index;
    items.push(copy(list[index], writing, spell, open));
  }
  path.pop();
  return items;
}

function copyMap(map: Readonly<Record<string, unknown>>, writing: Writing, spell: ToJson, open: Set<object>): Json {
  const { path } = writing;
  const level = path.push('') - 1;
  const copied: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(map)) {
    const member = map[key];
    if (member === undefined) continue;
    path[level] = key;
    countItems(writing, 1);
    copied[key] = copy(member, writing, spell, open);
  }
  path.pop();
  return copied;
}

/** @throws AccpError E1004 if the object is an instance of a class or has symbol keys */
export function checkedMap(value: object, writing: Writing): Readonly<Record<string, unknown>> {
  if (!isPlainObject(value)) throw notJson(value, writing);
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw unwritable(writing, 'a map with symbol keys cannot be written');
  }
  return value;
}

export function notJson(value: unknown, writing: Writing): AccpError {
  const help = typeof value === 'object' ? 'use plain objects, arrays and scalars' : 'omit it, or send null';
  return unwritable(writing, `${describeType(value)} cannot be written`, help);
}

export function containsItself(writing: Writing): AccpError {
  return unwritable(writing, 'a value that contains itself cannot be written');
}

export function tooDeep(writing: Writing, max: number, help?: string): AccpError {
  return unwritable(writing, `nesting is deeper than ${max} levels`, help);
}
