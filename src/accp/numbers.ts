/** The canonical spelling of numbers (draft-benzing-accp-00, section 3.1.1). */
import { digitsOf, PLACES, roundDigits } from '../text/decimal.js';
import type { DecimalValue, IntegerValue } from './ast.js';

/** A number node that cannot be written; the printer adds the path. */
export class BadNumber extends Error {}

/** Returns the canonical digits. Throws BadNumber on an invalid `value`, a `text` that does not denote it, and too many digits. */
export function integerDigits(node: IntegerValue, maxDigits: number): string {
  const { value, text } = node;
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
    throw new BadNumber(`${nameOf(value)} is not a safe integer; pass integers beyond 2^53 - 1 as bigint`);
  }
  if (text === undefined) return checkDigits(String(value), maxDigits);
  if (typeof text !== 'string' || !/^-?[0-9]+$/.test(text))
    throw new BadNumber('text must be the digits of an integer');
  checkDigits(text, maxDigits);
  if (BigInt(text) !== BigInt(value)) throw new BadNumber(`text does not denote ${String(value)}`);
  return String(value);
}

/** Returns canonical digits: at most six places, rounded half to even on the decimal digits. Throws like {@link integerDigits}. */
export function decimalDigits(node: DecimalValue, maxDigits: number): string {
  const { value, text } = node;
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new BadNumber(`value must be a number; got ${nameOf(value)}`);
  if (text === undefined) {
    if (!Number.isFinite(value)) throw new BadNumber(`${value} cannot be written without its digits in text`);
    return checkDigits(shortDigits(value) ?? rounded(digitsOf(value)), maxDigits);
  }
  if (typeof text !== 'string' || !/^-?[0-9]+\.[0-9]+$/.test(text))
    throw new BadNumber('text must be the digits of a decimal');
  checkDigits(text, maxDigits);
  // `===` makes 0 and -0 equal: a decimal zero has no sign.
  if (Number(text) !== value) throw new BadNumber(`text does not denote ${value}`);
  return rounded(text);
}

/** Returns JavaScript's own digits if they are canonical: no exponent, at most six places. */
function shortDigits(value: number): string | null {
  const digits = String(value);
  const point = digits.indexOf('.');
  if (digits.includes('e')) return null;
  if (point < 0) return `${digits}.0`;
  return digits.length - point - 1 <= PLACES ? digits : null;
}

/** Creates an integer node; the value is a number where exact, and `text` is set only where the value does not imply it. */
export function integerOf(text: string): IntegerValue {
  const number = Number(text) || 0;
  const value = Number.isSafeInteger(number) ? number : BigInt(text);
  return String(value) === text ? { kind: 'integer', value } : { kind: 'integer', value, text };
}

/** Creates a decimal node; `text` is set only where the value does not imply the digits. */
export function decimalOf(text: string): DecimalValue {
  const value = Number(text) || 0;
  const spelling = Number.isFinite(value) ? rounded(digitsOf(value)) : '';
  return spelling === text ? { kind: 'decimal', value } : { kind: 'decimal', value, text };
}

function nameOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : `a value of type ${typeof value}`;
}

/** Rounds digits to six places, half to even. */
export function rounded(digits: string): string {
  const { integer, fraction } = roundDigits(digits);
  return `${integer}.${fraction || '0'}`;
}

function checkDigits(digits: string, maxDigits: number): string {
  if (digits.length > maxDigits && digits.replace(/[-.]/g, '').length > maxDigits) {
    throw new BadNumber(`the number has more than ${maxDigits} digits`);
  }
  return digits;
}
