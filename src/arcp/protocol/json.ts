/** JSON as it is read from a peer, and values that are kept as JSON. */

import { byCodeUnit } from '../../text/ascii.js';
import { isRecord } from '../../text/guards.js';
import { endOfString } from '../../text/json-text.js';
import { ArcpError } from './errors.js';

type JsonFault = 'syntax' | 'depth' | 'number' | 'duplicate-key';

type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: JsonFault; readonly message: string };

/** @param maxDepth most arrays and objects inside each other */
export function readJson(text: string, maxDepth: number): JsonReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, fault: 'syntax', message: `The text is no JSON: ${(error as Error).message}` };
  }
  const count = countMembers(value, maxDepth);
  if (count === BEYOND_DOUBLE)
    return { ok: false, fault: 'number', message: 'A number is beyond the range of a double' };
  if (count < 0)
    return { ok: false, fault: 'depth', message: `More than ${maxDepth} arrays and objects in each other` };
  if (count !== countNames(text)) {
    return { ok: false, fault: 'duplicate-key', message: `An object has two members named ${repeatedName(text)}` };
  }
  return { ok: true, value };
}

const TOO_DEEP = -1;
const BEYOND_DOUBLE = -2;

/** @returns how many members all objects have together, or what is wrong with the value. The recursion is at most `depth` deep. */
function countMembers(value: unknown, depth: number): number {
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : BEYOND_DOUBLE;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === 0) return TOO_DEEP;
  let sum = 0;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'string') continue;
      const count = countMembers(item, depth - 1);
      if (count < 0) return count;
      sum += count;
    }
    return sum;
  }
  const names = Object.keys(value);
  sum = names.length;
  for (const name of names) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (typeof member === 'string') continue;
    const count = countMembers(member, depth - 1);
    if (count < 0) return count;
    sum += count;
  }
  return sum;
}

const QUOTE = '"';
const COLON = 0x3a;
const SPACE = 0x20;

/** How many strings of a text, which is JSON, stand before a colon. */
function countNames(text: string): number {
  let count = 0;
  for (let start = text.indexOf(QUOTE); start !== -1; ) {
    const end = endOfString(text, start);
    let next = end + 1;
    while (text.charCodeAt(next) <= SPACE) next++;
    if (text.charCodeAt(next) === COLON) count++;
    start = text.indexOf(QUOTE, next);
  }
  return count;
}

/** The first name that an object has twice, as it stands in the text. */
function repeatedName(text: string): string {
  const names: Set<string>[] = [];
  for (const [token, isName] of tokens(text)) {
    if (token === '{') names.push(new Set());
    else if (token === '}') names.pop();
    else if (isName) {
      const name: string = JSON.parse(token);
      const known = names.at(-1)!;
      if (known.has(name)) return token.length > 80 ? `${token.slice(0, 80)}...` : token;
      known.add(name);
    }
  }
  throw new Error('no name stands twice');
}

function* tokens(text: string): Generator<readonly [token: string, isName: boolean]> {
  for (const [, token, colon] of text.matchAll(/("(?:[^"\\]|\\.)*"|[{}])\s*(:?)/g)) yield [token!, colon === ':'];
}

/** Levels of arrays and objects; a value that is part of itself has more. */
const MAX_DEPTH = 500;

/** Objects whose members are not their contents. */
const LOSSY =
  /^\[object (?:(?:Weak)?(?:Map|Set|Ref)|Promise|RegExp|Error|(?:Async)?Generator|(?:Shared)?ArrayBuffer|DataView|(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array)\]$/;
/** Objects that `JSON.stringify` writes as what they hold. */
const BOXED = /^\[object (?:Number|Boolean)\]$/;

/**
 * Returns the JSON of a value that is kept. What is read from it later is the same as what a caller gets now, if the caller gets
 * `JSON.parse` of it: a value with a `toJSON`, such as a date, is what that returns, and members that are undefined are left out.
 *
 * @param what names the value in the error: `a checkpoint`
 * @throws ArcpError `INVALID_ARGUMENT` on a value that JSON would change or cannot hold: NaN, a Map, bytes, a function, a bigint, an object whose
 * contents are no members, a value that contains itself. `details.path` is its place: `$.items[2]`
 */
export function jsonOf(value: unknown, what: string): string {
  if (value === undefined) return 'null';
  try {
    assertJson(value, what);
    return JSON.stringify(value);
  } catch (cause) {
    if (cause instanceof ArcpError) throw cause;
    throw new ArcpError('INVALID_ARGUMENT', `JSON cannot hold ${what}: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Checks that JSON holds a value as it is.
 *
 * @throws ArcpError `INVALID_ARGUMENT`, as {@link jsonOf}
 */
export function assertJson(value: unknown, what: string, path = '$', depth = 0): void {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (typeof value !== 'object') throw unkept(what, path, typeof value === 'number' ? String(value) : typeof value);
  if (depth > MAX_DEPTH) throw unkept(what, path, 'a value that contains itself, or nests too deeply');
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    const made: unknown = value.toJSON();
    if (made === null && value instanceof Date) throw unkept(what, path, 'an invalid date');
    assertJson(made, what, path, depth + 1);
    return;
  }
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) assertJson(value[at], what, `${path}[${at}]`, depth + 1);
    return;
  }
  const tag = Object.prototype.toString.call(value);
  if (BOXED.test(tag)) {
    assertJson(value.valueOf(), what, path, depth + 1);
    return;
  }
  const members = Object.entries(value);
  // What is no plain object and has no members holds its contents elsewhere: URLSearchParams, a Blob, a class with private fields.
  if (LOSSY.test(tag) || (members.length === 0 && !isPlain(value))) throw unkept(what, path, nameOf(value, tag));
  for (const [name, member] of members)
    if (member !== undefined) assertJson(member, what, `${path}.${name}`, depth + 1);
}

/** Returns the JSON of a value, with the members of each object in one order: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isRecord(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => byCodeUnit(a, b))) : member,
  );
}

/** Plain objects of another realm are plain, too. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object, tag: string): string {
  const maker = (value as { readonly constructor?: unknown }).constructor;
  return typeof maker === 'function' && maker.name !== '' ? maker.name : tag.slice('[object '.length, -1);
}

function unkept(what: string, path: string, found: string): ArcpError {
  return new ArcpError('INVALID_ARGUMENT', `JSON cannot hold ${what}: ${path} is ${found}`, { details: { path } });
}
