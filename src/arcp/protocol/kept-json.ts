/** Values that are kept as text, and given again. */
import { byCodeUnit } from '../../text/ascii.js';
import { ArcpError } from './errors.js';

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
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => byCodeUnit(a, b)))
      : member,
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
