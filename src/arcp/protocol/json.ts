/** Reading of JSON from peers, and checks of values that are stored as JSON. */
import { byCodeUnit } from '../../text/ascii.js';
import { isRecord } from '../../text/guards.js';
import { endOfString, skipSpace } from '../../text/json-text.js';
import { ArcpError } from './errors.js';

type JsonFault = 'syntax' | 'depth' | 'number' | 'duplicate-key';

type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: JsonFault; readonly message: string };

export function readJson(text: string, maxDepth: number): JsonReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, fault: 'syntax', message: `The text is not JSON: ${(error as Error).message}` };
  }
  const count = countMembers(value, maxDepth);
  if (count === BEYOND_DOUBLE)
    return { ok: false, fault: 'number', message: 'A number is beyond the range of a double' };
  if (count < 0)
    return { ok: false, fault: 'depth', message: `Arrays and objects are nested more than ${maxDepth} levels deep` };
  const repeated = count === countNames(text) ? undefined : repeatedName(text);
  if (repeated === undefined) return { ok: true, value };
  return { ok: false, fault: 'duplicate-key', message: `An object has two members named ${repeated}` };
}

const TOO_DEEP = -1;
const BEYOND_DOUBLE = -2;

/** Returns the number of members of all objects, or a negative error. The recursion is at most `depth` deep. */
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
const COLON = ':';
const SPACE = 0x20;

/**
 * Returns the number of colons that follow a quotation mark: the member names, and colons at the start of a string or after an escaped mark.
 * If a text has as many members, no name is repeated.
 */
function countNames(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(COLON); colon !== -1; colon = text.indexOf(COLON, colon + 1)) {
    let before = colon - 1;
    while (text.charCodeAt(before) <= SPACE) before--;
    if (text[before] === QUOTE) count++;
  }
  return count;
}

/** Returns the first repeated member name, at most 80 characters of it. The text is valid JSON. */
function repeatedName(text: string): string | undefined {
  const objects: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') objects.push(new Set());
    else if (text[at] === '}') objects.pop();
    else if (text[at] === QUOTE) {
      const token = text.slice(at, endOfString(text, at) + 1);
      at = skipSpace(text, at + token.length);
      if (text[at] !== COLON) at--;
      else if (objects.at(-1)!.has(JSON.parse(token))) return token.length > 80 ? `${token.slice(0, 80)}...` : token;
      else objects.at(-1)!.add(JSON.parse(token));
    }
  }
  return undefined;
}

/** The limit that also ends the recursion into a value that contains itself. */
const MAX_DEPTH = 500;

/** Objects whose contents JSON would lose. */
const LOSSY =
  /^\[object (?:(?:Weak)?(?:Map|Set|Ref)|Promise|RegExp|Error|(?:Async)?Generator|(?:Shared)?ArrayBuffer|DataView|(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array)\]$/;
/** Objects that `JSON.stringify` unwraps. */
const BOXED = /^\[object (?:Number|Boolean)\]$/;

/** Returns the JSON of a value, from which `JSON.parse` restores it. @throws ArcpError `INVALID_ARGUMENT` as {@link assertJson} */
export function jsonOf(value: unknown, what: string): string {
  if (value === undefined) return 'null';
  try {
    assertJson(value, what);
    return JSON.stringify(value);
  } catch (cause) {
    if (cause instanceof ArcpError) throw cause;
    throw new ArcpError('INVALID_ARGUMENT', `JSON cannot represent ${what}: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Asserts that JSON can represent a value.
 *
 * @throws ArcpError `INVALID_ARGUMENT` for NaN, a Map, bytes, a function, a bigint, a cycle, ...; `details.path` is its path: `$.items[2]`
 */
export function assertJson(value: unknown, what: string, path = '$', depth = 0): void {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (typeof value === 'bigint') throw notJson(what, path, 'a bigint; write its digits as a string');
  if (typeof value !== 'object') throw notJson(what, path, typeof value === 'number' ? String(value) : typeof value);
  if (depth > MAX_DEPTH) throw notJson(what, path, 'a value that contains itself, or nests too deeply');
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    const converted: unknown = value.toJSON();
    if (converted === null && value instanceof Date) throw notJson(what, path, 'an invalid date');
    assertJson(converted, what, path, depth + 1);
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
  // Objects without enumerable contents: URLSearchParams, a Blob, a class with private fields.
  if (LOSSY.test(tag) || (members.length === 0 && !isPlain(value))) throw notJson(what, path, nameOf(value, tag));
  for (const [name, member] of members)
    if (member !== undefined) assertJson(member, what, `${path}.${name}`, depth + 1);
}

/** Returns JSON with sorted members, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** Returns a copy with sorted members. `JSON.stringify` with a function that sorts them takes several times as long. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const { toJSON } = value;
  if (typeof toJSON === 'function') return sorted(toJSON.call(value));
  const names = Object.keys(value).sort(byCodeUnit);
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

/** Returns whether a value is a plain object, also of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object, tag: string): string {
  const maker = (value as { readonly constructor?: unknown }).constructor;
  return typeof maker === 'function' && maker.name !== '' ? maker.name : tag.slice('[object '.length, -1);
}

function notJson(what: string, path: string, found: string): ArcpError {
  return new ArcpError('INVALID_ARGUMENT', `JSON cannot represent ${what}: ${path} is ${found}`, { details: { path } });
}
