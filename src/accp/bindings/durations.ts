import { LONGEST_TIMER } from '../../async/timers.js';

/**
 * Checks durations that a timer measures.
 *
 * @param min the least duration in milliseconds
 * @throws TypeError if a duration is neither `Infinity` nor a number of milliseconds that a timer can hold
 */
export function checkDurations(durations: Readonly<Record<string, number | undefined>>, min: 0 | 1 = 1): void {
  for (const [name, value] of Object.entries(durations)) {
    if (value === undefined || value === Number.POSITIVE_INFINITY) continue;
    if (!(value >= min && value <= LONGEST_TIMER))
      throw new TypeError(
        `${name} must be a number of milliseconds from ${min} to ${LONGEST_TIMER}, or Infinity; got ${value}`,
      );
  }
}
