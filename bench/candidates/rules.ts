/** Numbers of strict ACCP beyond its ABNF, for hand-written parsers: exact values, source digits, a limit of digits. */
import type { DecimalValue, IntegerValue } from '../../src/accp/ast.js';

const MAX_DIGITS = 1_000;

/** Thrown if the text is not a frame. */
class Refusal extends SyntaxError {}

/** @throws Refusal if there are too many digits */
export function integer(text: string): IntegerValue {
  if (text.length > MAX_DIGITS && text.length - (text.startsWith('-') ? 1 : 0) > MAX_DIGITS) {
    throw new Refusal('too many digits');
  }
  const number = Number(text) || 0;
  const value = Number.isSafeInteger(number) ? number : BigInt(text);
  return String(value) === text ? { kind: 'integer', value } : { kind: 'integer', value, text };
}

/** @throws Refusal if there are too many digits */
export function decimal(text: string): DecimalValue {
  if (text.length > MAX_DIGITS && text.length - (text.startsWith('-') ? 2 : 1) > MAX_DIGITS) {
    throw new Refusal('too many digits');
  }
  const value = Number(text) || 0;
  return isCanonical(text, value) ? { kind: 'decimal', value } : { kind: 'decimal', value, text };
}

/** No redundant zeros, at most six places, no negative zero, and no digit that the double lost. */
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
