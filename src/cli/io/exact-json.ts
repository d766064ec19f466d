/** JSON that keeps all digits of its numbers; a double would change big integers silently. */
import { randomUUID } from 'node:crypto';
import { AccpError } from '../../accp/errors.js';
import type { Json } from '../../accp/message/json.js';
import { MAX_NESTING } from '../../accp/message/json.js';
import type { Loss } from '../../accp/message/message.js';
import { stepText } from '../../accp/message/message.js';
import { digitsOf } from '../../text/decimal.js';
import { PegwireError } from '../../text/errors.js';
import { visible } from '../../text/visible.js';
import { jsonPlaces } from './json-place.js';

/** Strings and numbers. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g;
/** Strings, with the colon after a key. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"([ \t\r\n]*:)?/g;
/** A double keeps up to 15 digits. */
const SAFE_DIGITS = /^-?[0-9.]{1,15}$/;
/** As many as the grammar accepts (draft-benzing-accp-00 names no limit). */
const MAX_DIGITS = 1000;

/** Marks numbers while `JSON.parse` reads them; random, so that no input can contain it. */
const MARK = `${randomUUID()}:`;

/**
 * Parses one JSON document. Integers beyond 2^53 - 1 become `bigint`; objects have no prototype; losses are decimals that a double cannot hold.
 *
 * @throws SyntaxError if the text is not JSON
 * @throws AccpError E1004 if a key is repeated, an integer has more than 1,000 digits, or the nesting is too deep
 */
export function parseExactJson(text: string): { value: Json; losses: readonly Loss[] } {
  const plain = JSON.parse(text) as unknown;
  const marked = text.replace(TOKEN, (token) => (needsMark(token) ? `"${MARK}${token}"` : token));
  const copying: Copying = { losses: [], keys: 0 };
  const value = copy(marked === text ? plain : JSON.parse(marked), '', 0, copying);
  if (copying.keys < keysIn(text)) throw rejected(...repeatedKey(text));
  return { value, losses: copying.losses };
}

interface Copying {
  readonly losses: Loss[];
  keys: number;
}

function keysIn(text: string): number {
  let keys = 0;
  for (const [, colon] of text.matchAll(STRING)) if (colon !== undefined) keys++;
  return keys;
}

/** Finds the first repeated key. */
function repeatedKey(text: string): [path: string, message: string] {
  const seen = new WeakMap<object, Set<unknown>>();
  for (const { isKey, levels } of jsonPlaces(text)) {
    if (!isKey) continue;
    const object = levels.at(-1)!;
    const keys = seen.get(object) ?? new Set();
    const path = (): string => levels.map(({ step }) => stepText(step!)).join('');
    if (keys.has(object.step)) return [path().replace(/^\./, ''), 'the key appears twice'];
    seen.set(object, keys.add(object.step));
  }
  return ['', 'a key appears twice'];
}

function needsMark(token: string): boolean {
  if (token.startsWith('"') || SAFE_DIGITS.test(token)) return false;
  return isInteger(token) ? !Number.isSafeInteger(Number(token)) : significant(token) !== significant(nearest(token));
}

function isInteger(token: string): boolean {
  return /^-?[0-9]+$/.test(token);
}

/** Returns the digits of the nearest double. */
function nearest(token: string): string {
  return String(Number(token));
}

function significant(number: string): string {
  const [mantissa] = number.toLowerCase().split('e');
  return mantissa!
    .replace(/^-?0*\.?0*/, '')
    .replace('.', '')
    .replace(/0+$/, '');
}

function copy(value: unknown, path: string, depth: number, copying: Copying): Json {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? numberOf(value.slice(MARK.length), path, copying.losses) : value;
  if (typeof value !== 'object' || value === null) return value as null | boolean | number;
  if (depth > MAX_NESTING) throw rejected(`${path.slice(0, 40)}...`, `nests deeper than ${MAX_NESTING}`);
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => copy(item, `${path}[${index}]`, depth + 1, copying));
  }
  const object: Record<string, Json> = Object.create(null);
  for (const [key, member] of Object.entries(value)) {
    copying.keys++;
    object[key] = copy(member, (path + stepText(key)).replace(/^\./, ''), depth + 1, copying);
  }
  return object;
}

function numberOf(digits: string, path: string, losses: Loss[]): number | bigint {
  if (!isInteger(digits)) {
    const value = Number(digits);
    losses.push({
      path,
      kind: 'precision',
      from: digits,
      to: Number.isFinite(value) ? digitsOf(value) : String(value),
    });
    return value;
  }
  if (digits.length > MAX_DIGITS + 1) throw rejected(path, `has ${digits.length} digits; the limit is ${MAX_DIGITS}`);
  return BigInt(digits);
}

function rejected(path: string, message: string): AccpError {
  return new AccpError({ code: 'E1004', path: path === '' ? undefined : path, message });
}

/** Prints as `JSON.stringify` does, but big integers as numbers, and infinities as strings. */
export function exactJson(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return String(value);
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`;
    case 'object':
      break;
    default:
      return JSON.stringify(value) ?? 'null';
  }
  if (value === null) return 'null';
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === 'function') return exactJson(toJSON.call(value));
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${exactJson(member)}`).join(',')}}`;
}

/** Converts an error of `JSON.parse`, with its position if known. */
export function notJson(thrown: SyntaxError, text: string, help: string): PegwireError {
  const position = /position ([0-9]+)/.exec(thrown.message);
  const at = position === null ? null : Number(position[1]);
  return new PegwireError({
    code: 'not-json',
    message: `The line is not JSON: ${visible(thrown.message)}`,
    help,
    text,
    span: at === null ? null : { start: at, end: at + 1 },
  });
}
