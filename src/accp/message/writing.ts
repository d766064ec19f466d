/** The state of the conversion of one message, and the conversion of numbers. */

import { digitsOf, PLACES } from '../../text/decimal.js';
import { DEFAULT_LIMITS, resolveLimits } from '../../text/limits.js';
import type { DecimalValue, IntegerValue } from '../ast.js';
import { type AccpError, accpError } from '../errors.js';
import { decimalOf, rounded } from '../numbers.js';
import type { Json } from './json.js';
import { type Loss, pathText, type Step } from './message.js';

/**
 * The treatment of values that the grammar cannot write (draft-benzing-accp-00, section 3.1): empty strings, characters beyond visible
 * ASCII, strings that would read as another kind, keys with other characters than letters, digits and `_`, and too deep nesting.
 *
 * - `transliterate`: a reversible spelling, which the reader must support.
 * - `reject`: an error with the path.
 * - `externalize`: a reference to a value in a store that both ends share.
 */
export type TextPolicy = 'transliterate' | 'reject' | 'externalize';

export interface WritingOptions {
  readonly text: TextPolicy;
  /** For `externalize`: stores the value and returns the path of its reference. */
  readonly externalize?: ((value: Json, path: string) => string) | undefined;
  /**
   * If true, the reader decodes transliteration although this writer may not use it yet, so text that looks transliterated is rejected.
   * @default false
   */
  readonly peerDecodes?: boolean | undefined;
  /** The maximum number of parameters, map entries and array items together. @default 100000 */
  readonly maxItems?: number | undefined;
  /** The list that receives the losses. @default a new one */
  readonly losses?: Loss[] | undefined;
}

export interface Writing {
  readonly losses: Loss[];
  readonly text: TextPolicy;
  readonly externalize: (value: Json, path: string) => string;
  readonly peerDecodes: boolean;
  readonly maxItems: number;
  /** The steps from the payload to the current value. */
  readonly path: Step[];
  /** The enclosing arrays and maps. */
  readonly open: object[];
  items: number;
}

/** @throws TypeError if a limit is invalid, or the function for `externalize` is missing */
export function createWriting(options: WritingOptions): Writing {
  const { maxItems } = options.maxItems === undefined ? DEFAULT_LIMITS : resolveLimits(options);
  const { text, externalize } = options;
  if (text === 'externalize' && externalize === undefined)
    throw new TypeError('text: "externalize" needs the function externalize');
  return {
    losses: options.losses ?? [],
    text,
    externalize: externalize ?? notExternalized,
    peerDecodes: options.peerDecodes ?? false,
    maxItems,
    path: [],
    open: [],
    items: 0,
  };
}

function notExternalized(): never {
  throw new TypeError('this text policy does not externalize values');
}

export function unwritable(writing: Writing, message: string, help?: string): AccpError {
  return accpError('E1004', pathText(writing.path), message, help);
}

function recordLoss(writing: Writing, kind: Loss['kind'], from: string, to: string): void {
  writing.losses.push({ path: pathText(writing.path), kind, from, to });
}

/** Counts items. Throws AccpError E1004 beyond the limit. */
export function countItems(writing: Writing, count: number): void {
  writing.items += count;
  if (writing.items <= writing.maxItems) return;
  throw unwritable(writing, `the message has more than ${writing.maxItems} items`, 'split it into several messages');
}

const DIGITS_OF_HEX_DIGIT = 1.2041;
const { maxDigits } = DEFAULT_LIMITS;

/** Converts a number. If `asDecimal` is true, integers become decimals, too: `1899.0`. */
export function numberNode(value: number | bigint, writing: Writing, asDecimal: boolean): IntegerValue | DecimalValue {
  if (typeof value === 'bigint') return bigintNode(value, writing, asDecimal);
  if (!Number.isInteger(value)) return fractionNode(value, writing);
  const integer = checkedInteger(value, writing);
  return asDecimal ? { kind: 'decimal', value: integer } : { kind: 'integer', value: integer };
}

/** Throws AccpError E1004 if the integer is unsafe, since its intended value is unknown. */
export function checkedInteger(value: number, writing: Writing): number {
  if (!Number.isSafeInteger(value)) {
    throw unwritable(writing, `${value} is not a safe integer`, 'pass integers beyond 2^53 - 1 as bigint');
  }
  if (value !== 0 || !Object.is(value, -0)) return value;
  recordLoss(writing, 'negative-zero', '-0', '0');
  return 0;
}

export function checkFinite(value: number, writing: Writing): void {
  if (!Number.isFinite(value)) throw unwritable(writing, `${value} cannot be written`, 'omit it, or send null');
}

/** Throws AccpError E1004 if there are too many digits. The time is linear in the length. */
export function checkBigint(value: bigint, writing: Writing): void {
  // Converting to hexadecimal is linear, to decimal is not.
  const atLeast = (value.toString(16).length - 2) * DIGITS_OF_HEX_DIGIT;
  if (atLeast <= maxDigits && String(value < 0n ? -value : value).length <= maxDigits) return;
  throw unwritable(writing, `the number has more than ${maxDigits} digits`);
}

function bigintNode(value: bigint, writing: Writing, asDecimal: boolean): IntegerValue | DecimalValue {
  checkBigint(value, writing);
  const number = Number(value);
  if (Number.isSafeInteger(number)) {
    recordLoss(writing, 'narrowed', `${value}n`, String(number));
    return asDecimal ? { kind: 'decimal', value: number } : { kind: 'integer', value: number };
  }
  if (!asDecimal) return { kind: 'integer', value };
  const help = 'give the field the type "integer" or "number"';
  throw unwritable(writing, 'a decimal field cannot hold an integer beyond 2^53 - 1', help);
}

function fractionNode(value: number, writing: Writing): DecimalValue {
  checkFinite(value, writing);
  const digits = digitsOf(value);
  const places = digits.length - digits.indexOf('.') - 1;
  if (places <= PLACES) return { kind: 'decimal', value };
  const roundedDigits = rounded(digits);
  recordLoss(writing, 'rounded', digits, roundedDigits);
  return decimalOf(roundedDigits);
}
