/**
 * JSON as it is read from a peer: not too deep, without members of the same name, of which only one would count, and without numbers beyond a
 * double, which `JSON.parse` reads as Infinity and `JSON.stringify` writes as null.
 */
import { endOfString } from '../../text/json-text.js';

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
