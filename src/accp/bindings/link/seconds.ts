/** Times of this binding, in seconds. */
import { LONGEST_TIMER } from '../../../async/timers.js';

const MAX_SECONDS = Math.floor(LONGEST_TIMER / 1000);

/** The least time for something to come, in seconds. */
export const LEAST_TIMEOUT = 0.001;

/**
 * Checks times; `Infinity` is for ever.
 *
 * @param least the least that they may be
 * @throws TypeError on what no timer can hold
 */
export function checkSeconds(times: Readonly<Record<string, number | undefined>>, least = 0): void {
  for (const [name, value] of Object.entries(times)) {
    if (value === undefined || value === Number.POSITIVE_INFINITY) continue;
    if (!(value >= least && value <= MAX_SECONDS))
      throw new TypeError(`${name} is a number of seconds from ${least} to ${MAX_SECONDS}, or Infinity; got ${value}`);
  }
}
