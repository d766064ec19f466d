/** Numbers as nodes: exactly, with a loss that is told, or not at all (draft-benzing-accp-00, section 3.1.1). */
import { digitsOf, PLACES, roundDigits } from '../../text/decimal.js';
import type { DecimalValue, IntegerValue } from '../ast.js';
import { decimalOf } from '../numbers.js';
import { lose, unwritable, type Writing } from './writing.js';

const DIGITS_OF_HEX_DIGIT = 1.2041;
/** No safe integer has more. */
const DIGITS_OF_SAFE = 16;

/** @param asDecimal whether a whole number, too, is to be a decimal: `1899.0` */
export function numberNode(value: number | bigint, writing: Writing, asDecimal: boolean): IntegerValue | DecimalValue {
  if (typeof value === 'bigint') return bigintNode(value, writing, asDecimal);
  if (!Number.isInteger(value)) return fractionNode(value, writing);
  const integer = checkedInteger(value, writing);
  if (writing.maxDigits <= DIGITS_OF_SAFE) checkDigits(`${Math.abs(integer)}${asDecimal ? '0' : ''}`, writing);
  return asDecimal ? { kind: 'decimal', value: integer } : { kind: 'integer', value: integer };
}

/**
 * A whole number that is safe, and not -0.
 *
 * @throws AccpError E1004 on an unsafe one: which integer was meant can no longer be told
 */
export function checkedInteger(value: number, writing: Writing): number {
  if (!Number.isSafeInteger(value)) {
    throw unwritable(writing, `${value} is no safe integer`, 'give integers beyond 2^53 - 1 as bigint');
  }
  if (value !== 0 || !Object.is(value, -0)) return value;
  lose(writing, 'negative-zero', '-0', '0');
  return 0;
}

/** @throws AccpError E1004 on NaN and the infinities */
export function checkFinite(value: number, writing: Writing): void {
  if (!Number.isFinite(value)) throw unwritable(writing, `${value} cannot be written`, 'leave it out, or send null');
}

/** @throws AccpError E1004 when a bigint has more digits than the limit; in time proportional to its length */
export function checkBigint(value: bigint, writing: Writing): void {
  // Hexadecimal digits are cheap to come by, decimal ones of a very long number are not.
  const atLeast = (value.toString(16).length - 2) * DIGITS_OF_HEX_DIGIT;
  if (atLeast > writing.maxDigits) throw tooManyDigits(writing);
  checkDigits(String(value < 0n ? -value : value), writing);
}

function bigintNode(value: bigint, writing: Writing, asDecimal: boolean): IntegerValue | DecimalValue {
  checkBigint(value, writing);
  const number = Number(value);
  if (Number.isSafeInteger(number)) {
    lose(writing, 'narrowed', `${value}n`, String(number));
    return asDecimal ? { kind: 'decimal', value: number } : { kind: 'integer', value: number };
  }
  if (!asDecimal) return { kind: 'integer', value };
  const help = 'type the field "integer" or "number"';
  throw unwritable(writing, 'a decimal field holds no integer beyond 2^53 - 1', help);
}

function fractionNode(value: number, writing: Writing): DecimalValue {
  checkFinite(value, writing);
  const digits = digitsOf(value);
  const places = digits.length - digits.indexOf('.') - 1;
  if (places <= PLACES) {
    if (digits.length > writing.maxDigits) checkDigits(digits.replace(/[-.]/g, ''), writing);
    return { kind: 'decimal', value };
  }
  const { integer, fraction } = roundDigits(digits);
  const rounded = `${integer}.${fraction || '0'}`;
  checkDigits(rounded.replace(/[-.]/g, ''), writing);
  lose(writing, 'rounded', digits, rounded);
  return decimalOf(rounded);
}

function checkDigits(digits: string, writing: Writing): void {
  if (digits.length > writing.maxDigits) throw tooManyDigits(writing);
}

function tooManyDigits(writing: Writing): Error {
  return unwritable(writing, `the number has more than ${writing.maxDigits} digits`);
}
