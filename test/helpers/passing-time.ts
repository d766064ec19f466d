/** A clock that tests set, both the wall clock and the monotonic clock. */
import { onTestFinished, vi } from 'vitest';

export interface HandClock {
  /** The time of both clocks. */
  now: number;
}

/**
 * Creates a wall clock that the monotonic clock follows until the end of the test.
 *
 * @param unitMs the unit of the wall clock in milliseconds
 */
export function passingTime(start: number, unitMs = 1): HandClock {
  const clock = { now: start };
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock.now * unitMs);
  onTestFinished(() => spy.mockRestore());
  return clock;
}
