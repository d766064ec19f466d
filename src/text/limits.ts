import { nearest } from './suggest.js';

/** Bounds the work and memory that a hostile text can cause. A text beyond one is rejected with reason `limit`. */
export interface Limits {
  /** Longest text, in UTF-16 code units; a longer one is refused unread. @default 1048576 */
  readonly maxLength?: number | undefined;
  /** Deepest nesting of arrays and maps inside one value; stops deep recursion. @default 5 */
  readonly maxDepth?: number | undefined;
  /** Most parameters, map entries, array items and fields, taken together; bounds the size of the tree. @default 100000 */
  readonly maxItems?: number | undefined;
  /** Most digits of one number, because converting big numbers takes more than linear time. @default 1000 */
  readonly maxDigits?: number | undefined;
}

/** Limits after defaults; `Infinity` switches one off. */
export interface ResolvedLimits {
  readonly maxLength: number;
  readonly maxDepth: number;
  readonly maxItems: number;
  readonly maxDigits: number;
}

export const DEFAULT_LIMITS: ResolvedLimits = {
  maxLength: 1_048_576,
  maxDepth: 5,
  maxItems: 100_000,
  maxDigits: 1_000,
};

/** @throws TypeError if a limit is neither a non-negative integer nor `Infinity` */
export function resolveLimits(options: Limits): ResolvedLimits {
  return {
    maxLength: limit('maxLength', DEFAULT_LIMITS.maxLength, options.maxLength),
    maxDepth: limit('maxDepth', DEFAULT_LIMITS.maxDepth, options.maxDepth),
    maxItems: limit('maxItems', DEFAULT_LIMITS.maxItems, options.maxItems),
    maxDigits: limit('maxDigits', DEFAULT_LIMITS.maxDigits, options.maxDigits),
  };
}

function limit(name: keyof Limits, standard: number, value = standard): number {
  if (value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && value >= 0)) return value;
  throw new TypeError(`${name} must be a whole number from 0 on, or Infinity; got ${String(value)}`);
}

/** Checks an option with fixed choices; the first one is the default. @throws TypeError */
export function resolveChoice<T extends string>(option: string, value: T | undefined, choices: readonly T[]): T {
  if (value === undefined) return choices[0]!;
  if (choices.includes(value)) return value;
  const near = nearest(String(value), choices);
  const hint = near === undefined ? '' : `; did you mean '${near}'?`;
  throw new TypeError(`${option} must be one of ${choices.join(', ')}; got '${String(value)}'${hint}`);
}
