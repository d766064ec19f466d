/** Durations in options: milliseconds, where `Infinity` means never. */

/** The longest duration that JSON can represent, used for `Infinity` in messages and stores. */
const LONGEST_MS = Number.MAX_SAFE_INTEGER;

/** Asserts that durations are positive. @throws TypeError if one is not */
export function assertDurations(options: Readonly<Record<string, number | undefined>>, least = Number.MIN_VALUE): void {
  const kind = least === 0 ? 'non-negative' : 'positive';
  for (const [name, ms] of Object.entries(options))
    if (ms !== undefined && !(ms >= least))
      throw new TypeError(`${name} must be a ${kind} number of milliseconds or Infinity; got ${ms}`);
}

/** Returns a duration that JSON can represent. */
export function storableMs<T extends number | undefined>(ms: T): T {
  return (ms === undefined ? undefined : Math.min(ms, LONGEST_MS)) as T;
}
