import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { after, afterUnref, monotonicClock } from '../../src/async/timers.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe.each([
  ['after', after],
  ['afterUnref', afterUnref],
])('%s', (_, later) => {
  test('so many milliseconds', () => {
    const run = vi.fn();
    later(2500, run);
    vi.advanceTimersByTime(2499);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledOnce();
  });

  test('more than a timer holds is as late as one can be, and not at once', () => {
    const run = vi.fn();
    later(2 ** 31, run);
    vi.advanceTimersByTime(2 ** 31 - 2);
    expect(run).not.toHaveBeenCalled();
  });

  test('for ever is never', () => {
    const run = vi.fn();
    later(Number.POSITIVE_INFINITY, run)();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('not at all, where it was stopped', () => {
    const run = vi.fn();
    later(1000, run)();
    vi.advanceTimersByTime(5000);
    expect(run).not.toHaveBeenCalled();
  });
});

test('clocks of one wall clock agree, whatever their units', () => {
  let wall = 1_700_000_000;
  const now = (): number => wall;
  const seconds = monotonicClock(now, 1000);
  wall += 1000;
  const milliseconds = monotonicClock(now);
  expect([seconds(), milliseconds()]).toEqual([1_700_000_000, 1_700_000_000]);
  vi.advanceTimersByTime(2500);
  expect(seconds()).toBeCloseTo(1_700_000_002.5);
  expect(milliseconds()).toBe(1_700_002_500);
});
