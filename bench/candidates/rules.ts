/**
 * What strict ACCP demands beyond its ABNF, for candidates that parse with a library: kinds of literals, exact numbers,
 * repeated keys, limits. Each candidate does all of it, so that all give the same tree and the same verdict.
 */
import type { DecimalValue, Frame, IntegerValue, Param, Value } from '../../src/accp/ast.js';

const MAX_LENGTH = 1_048_576;
const MAX_DEPTH = 5;
const MAX_ITEMS = 100_000;
const MAX_DIGITS = 1_000;

/** The text is no frame. */
export class Refusal extends SyntaxError {}

/** @throws Refusal on a text that is too long, or nests too deep for libraries that find out last */
export function checkText(text: string): void {
  if (text.length > MAX_LENGTH) throw new Refusal('too long');
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x5b || code === 0x7b) {
      // The outermost bracket is the payload's or the metadata's own.
      if (++depth > MAX_DEPTH + 1) throw new Refusal('nested too deep');
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
}

/** @throws Refusal on a frame of too many items */
export function checkItems(frame: Frame): Frame {
  const length = countParams(frame.payload) + (frame.metadata === null ? 0 : countParams(frame.metadata));
  if (length > MAX_ITEMS) throw new Refusal('too many items');
  return frame;
}

function countParams(params: readonly Param[]): number {
  let count = params.length;
  for (const { value } of params) count += countItems(value);
  return count;
}

function countItems(value: Value): number {
  if (value.kind === 'map') return countParams(value.entries);
  if (value.kind !== 'array') return 0;
  let count = value.items.length;
  for (const item of value.items) count += countItems(item);
  return count;
}

/** The list, if no key is in it twice. Short lists are compared pairwise: that beats building a set. */
export function distinct(params: Param[]): Param[] {
  if (params.length > 8) {
    const keys = new Set<string>();
    for (const { key } of params) if (keys.size === keys.add(key).size) throw new Refusal(`repeated key ${key}`);
    return params;
  }
  for (let index = 1; index < params.length; index++) {
    const { key } = params[index]!;
    for (let other = 0; other < index; other++)
      if (params[other]!.key === key) throw new Refusal(`repeated key ${key}`);
  }
  return params;
}

/** A name that libraries without a token of its own for it read as any text. */
export function named(text: string, pattern: RegExp): string {
  if (pattern.test(text)) return text;
  throw new Refusal(`bad name ${text}`);
}

export const AGENT_ID = /^[A-Za-z0-9_-]+$/;
export const INTENT = /^[A-Za-z]+$/;
export const WORD = /^\w+$/;
export const PATH = /^[\w.]+$/;

const INTEGER = /^-?[0-9]+$/;
const DECIMAL = /^-?[0-9]+\.[0-9]+$/;
const ESCAPE = /\\(.)/g;

/** The node of a whole lexeme, escapes and all. */
export function typedLiteral(lexeme: string): Value {
  if (lexeme === 'true') return { kind: 'boolean', value: true };
  if (lexeme === 'false') return { kind: 'boolean', value: false };
  const first = lexeme.charCodeAt(0);
  if (first === 0x2d || (first >= 0x30 && first <= 0x39)) {
    if (INTEGER.test(lexeme)) return integer(lexeme);
    if (DECIMAL.test(lexeme)) return decimal(lexeme);
  }
  return { kind: 'string', value: lexeme.includes('\\') ? lexeme.replace(ESCAPE, '$1') : lexeme };
}

/** @throws Refusal on too many digits */
export function integer(text: string): IntegerValue {
  if (text.length > MAX_DIGITS && text.length - (text.startsWith('-') ? 1 : 0) > MAX_DIGITS) {
    throw new Refusal('too many digits');
  }
  const number = Number(text) || 0;
  const value = Number.isSafeInteger(number) ? number : BigInt(text);
  return String(value) === text ? { kind: 'integer', value } : { kind: 'integer', value, text };
}

/** @throws Refusal on too many digits */
export function decimal(text: string): DecimalValue {
  if (text.length > MAX_DIGITS && text.length - (text.startsWith('-') ? 2 : 1) > MAX_DIGITS) {
    throw new Refusal('too many digits');
  }
  const value = Number(text) || 0;
  return isCanonical(text, value) ? { kind: 'decimal', value } : { kind: 'decimal', value, text };
}

/** No idle zeros, at most six places, no negative zero, and no digit that the double lost. */
const CANONICAL_DECIMAL = /^-?(?:0|[1-9][0-9]*)\.(?:[0-9]|[0-9]{1,5}[1-9])$/;

function isCanonical(text: string, value: number): boolean {
  if (!CANONICAL_DECIMAL.test(text) || (value === 0 && text.startsWith('-'))) return false;
  const shortest = String(value);
  if (shortest === text || `${shortest}.0` === text) return true;
  return shortest.includes('e') && significant(shortest.slice(0, shortest.indexOf('e'))) === significant(text);
}

function significant(digits: string): string {
  return digits.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
}
