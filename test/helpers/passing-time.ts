/** Time that passes by hand, for what is measured as well as for the wall clock. */
import { onTestFinished, vi } from 'vitest';

export interface HandClock {
  /** Moves both clocks. */
  now: number;
}

/**
 * Makes a wall clock, and has the monotonic clock go with it until the test ends.
 *
 * @param unitMs milliseconds of its unit
 */
export function passingTime(start: number, unitMs = 1): HandClock {
  const clock = { now: start };
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock.now * unitMs);
  onTestFinished(() => spy.mockRestore());
  return clock;
}
