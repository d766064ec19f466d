import { nearest } from './suggest.js';

/**
 * Checks an option that names one of a few choices.
 *
 * @throws TypeError naming the choices, with a suggestion for a slip of the pen
 */
export function resolveChoice<T extends string>(option: string, value: T | undefined, choices: readonly T[]): T {
  if (value === undefined) return choices[0]!;
  if (choices.includes(value)) return value;
  const near = nearest(String(value), choices);
  const hint = near === undefined ? '' : `; did you mean '${near}'?`;
  throw new TypeError(`${option} must be one of ${choices.join(', ')}; got '${String(value)}'${hint}`);
}
