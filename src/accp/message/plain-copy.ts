/** Copies of values that leave the frame: checked, without prototypes, and free of what JSON does not have. */
import type { AccpError } from '../errors/accp-error.js';
import type { Json } from './json.js';
import { Reference } from './reference.js';
import { isPlainObject, MOST_NESTING, nameOf } from './values.js';
import { checkBigint, checkedInteger, checkFinite } from './write-number.js';
import { countItems, unwritable, type Writing } from './writing.js';

/** How a copy spells the strings, big integers and references in it. */
export type Spell = (value: string | bigint | Reference) => Json;

/**
 * Copies a value of any depth within reason. Members that are `undefined` are left out, -0 is a loss, and numbers keep all of
 * their places.
 *
 * @throws AccpError E1004 with the path on what is no JSON, contains itself, or nests beyond all reason
 */
export function plainCopy(value: unknown, writing: Writing, spell: Spell = asIs): Json {
  return copy(value, writing, spell, new Set());
}

function asIs(value: string | bigint | Reference): Json {
  return value;
}

function copy(value: unknown, writing: Writing, spell: Spell, open: Set<object>): Json {
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
      throw noJson(value, writing);
  }
}

function copyContainer(value: object, writing: Writing, spell: Spell, open: Set<object>): Json {
  if (open.has(value)) throw containsItself(writing);
  if (writing.path.length > MOST_NESTING) throw tooDeep(writing, MOST_NESTING);
  open.add(value);
  const made = Array.isArray(value)
    ? copyArray(value, writing, spell, open)
    : copyMap(checkedMap(value, writing), writing, spell, open);
  open.delete(value);
  return made;
}

function copyArray(list: readonly unknown[], writing: Writing, spell: Spell, open: Set<object>): Json {
  countItems(writing, list.length);
  const { path } = writing;
  const level = path.length;
  const items: Json[] = [];
  for (let index = 0; index < list.length; index++) {
    path[level] = index;
    items.push(copy(list[index], writing, spell, open));
  }
  path.length = level;
  return items;
}

function copyMap(map: Readonly<Record<string, unknown>>, writing: Writing, spell: Spell, open: Set<object>): Json {
  const { path } = writing;
  const level = path.length;
  const made: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(map)) {
    const member = map[key];
    if (member === undefined) continue;
    path[level] = key;
    countItems(writing, 1);
    made[key] = copy(member, writing, spell, open);
  }
  path.length = level;
  return made;
}

/** @throws AccpError E1004 on what is no plain object, or has members that JSON cannot name */
export function checkedMap(value: object, writing: Writing): Readonly<Record<string, unknown>> {
  if (!isPlainObject(value)) throw noJson(value, writing);
  if (Object.getOwnPropertySymbols(value).length > 0) {
    throw unwritable(writing, 'a map with symbols for keys cannot be written');
  }
  return value;
}

export function noJson(value: unknown, writing: Writing): AccpError {
  const help = typeof value === 'object' ? 'give plain objects, arrays and scalars' : 'leave it out, or send null';
  return unwritable(writing, `${nameOf(value)} cannot be written`, help);
}

export function containsItself(writing: Writing): AccpError {
  return unwritable(writing, 'a value that contains itself cannot be written');
}

export function tooDeep(writing: Writing, most: number, help?: string): AccpError {
  return unwritable(writing, `nesting is deeper than ${most}`, help);
}
