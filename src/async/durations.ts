/** Durations in options: milliseconds, where `Infinity` means never. */

/**
 * Asserts that durations are positive numbers or, with a `min` of 0, not negative. `undefined` is valid.
 *
 * @throws TypeError if one is not; the message names the option
 */
export function assertDurations(
  durations: Readonly<Record<string, number | undefined>>,
  min: number = Number.MIN_VALUE,
): void {
  for (const [name, value] of Object.entries(durations)) {
    if (value === undefined || (typeof value === 'number' && value >= min)) continue;
    const kind = min === 0 ? 'non-negative' : 'positive';
    const found = typeof value === 'string' ? JSON.stringify(value) : String(value);
    throw new TypeError(`${name} must be a ${kind} number of milliseconds or Infinity; got ${found}`);
  }
}
