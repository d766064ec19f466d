/** Numbers as the texts that stand in packets. */
import { digitsOf } from '../../text/decimal.js';

/** A decimal number in plain digits. */
export const DECIMAL: RegExp = /^-?[0-9]+(?:\.[0-9]+)?$/;

/** A finite number or a bigint in plain digits, never with an exponent. Negative zero is zero. */
export function plainDigits(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : digitsOf(value);
}

/**
 * Python's `str` of a finite number. JavaScript does not tell 4200.0 from 4200, so whole numbers below 1e16 count as
 * integers; from there on, Python writes floats with an exponent.
 */
export function pythonText(value: number | bigint): string {
  if (typeof value === 'bigint' || value === 0) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return String(value);
  // The shortest digits that read back as the number, in both languages; only the notation differs.
  const [mantissa = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 16) return digitsOf(value);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}

/**
 * Python's `format(value, '.2f')` of a finite number: two decimals, half to even. `toFixed` is exact, too, but rounds ties
 * up; ties are the odd multiples of one eighth.
 */
export function pythonTwoDecimals(value: number): string {
  if (Math.abs(value) >= 1e21) return `${BigInt(value)}.00`;
  const downwards = (Math.abs(value) * 8) % 4 === 1;
  return downwards ? value.toFixed(3).slice(0, -1) : value.toFixed(2);
}
