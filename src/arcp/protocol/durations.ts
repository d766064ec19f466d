/** The longest duration that JSON can represent, used for `Infinity` in messages and stores. */
const LONGEST_MS = Number.MAX_SAFE_INTEGER;

/** Returns a duration that JSON can represent. */
export function storableMs<T extends number | undefined>(ms: T): T {
  return (ms === undefined ? undefined : Math.min(ms, LONGEST_MS)) as T;
}
