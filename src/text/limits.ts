import { nearest } from './suggest.js';

/** Limits on the work and memory that a hostile text can cause. A text beyond one of them is rejected with reason `limit`. */
export interface Limits {
  /** The maximum length of a text, in UTF-16 code units; a longer one is rejected unread. @default 1048576 */
  readonly maxLength?: number | undefined;
  /** The maximum nesting depth of arrays and maps in one value; prevents deep recursion. @default 5 */
  readonly maxDepth?: number | undefined;
  /** The maximum number of parameters, map entries, array items and fields in total; limits the size of the tree. @default 100000 */
  readonly maxItems?: number | undefined;
  /** The maximum number of digits in one number; converting more takes superlinear time. @default 1000 */
  readonly maxDigits?: number | undefined;
}

/** The limits with defaults filled in; `Infinity` disables a limit. */
export interface ResolvedLimits {
  readonly maxLength: number;
  readonly maxDepth: number;
  readonly maxItems: number;
  readonly maxDigits: number;
}

/** The limits of parsers whose options name none. */
export const DEFAULT_LIMITS: ResolvedLimits = {
  maxLength: 1_048_576,
  maxDepth: 5,
  maxItems: 100_000,
  maxDigits: 1_000,
};

/** Fills in the default limits. @throws TypeError if a limit is neither a non-negative integer nor `Infinity` */
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
  throw new TypeError(`${name} must be a non-negative integer or Infinity; got ${String(value)}`);
}

/** Checks an option with a fixed set of choices; the first is the default. @throws TypeError if the value is not a choice */
export function resolveChoice<T extends string>(option: string, value: T | undefined, choices: readonly T[]): T {
  if (value === undefined) return choices[0]!;
  if (choices.includes(value)) return value;
  const near = nearest(String(value), choices);
  const hint = near === undefined ? '' : `; did you mean '${near}'?`;
  throw new TypeError(`${option} must be one of ${choices.join(', ')}; got '${String(value)}'${hint}`);
}
