/**
 * JSON as it is read from a peer: not too deep, without members of the same name, of which only one would count, and without numbers beyond a
 * double, which `JSON.parse` reads as Infinity and `JSON.stringify` writes as null.
 */

export type JsonFault = 'syntax' | 'depth' | 'number' | 'duplicate-key';

export type JsonReading =
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
const BACKSLASH = 0x5c;
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

/** @returns the index of the quotation mark that ends the string, or -1 if the text ends before it */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf(QUOTE, start + 1); end !== -1; end = text.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return -1;
}

const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Returns whether arrays and objects of a JSON text nest deeper than `maxDepth`. The work is linear in the text. */
export function isDeeper(text: string, maxDepth: number): boolean {
  for (let at = 0, depth = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) at = endOfString(text, at);
    else if (OPENING.has(unit)) {
      if (++depth > maxDepth) return true;
    } else if (CLOSING.has(unit)) depth--;
  }
  return false;
}

/**
 * Reads members of the outermost object that are strings, from a text that is not parsed: it may be too long, too deep, cut off or not JSON
 * at all. The work is linear in the text.
 */
export function stringMembers(text: string, names: ReadonlySet<string>): Readonly<Record<string, string>> {
  const found: Record<string, string> = Object.create(null);
  let depth = 0;
  let name: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (OPENING.has(unit)) depth++;
    else if (CLOSING.has(unit)) depth--;
    else if (unit === 0x2c && depth === 1) name = undefined;
    else if (unit === 0x22) {
      const end = endOfString(text, at);
      if (end === -1) break;
      const token = depth === 1 && end - at < 2048 ? stringOf(text.slice(at, end + 1)) : undefined;
      at = end;
      if (name === undefined) name = token;
      else if (token !== undefined && names.has(name)) found[name] = token;
    }
  }
  return found;
}

function stringOf(token: string): string | undefined {
  try {
    return JSON.parse(token) as string;
  } catch {
    return undefined;
  }
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
