import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { after, afterUnref, monotonicClock } from '../../src/async/timers.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe.each([
  ['after', after],
  ['afterUnref', afterUnref],
])('%s', (_, schedule) => {
  test('calls the function after the delay', () => {
    const run = vi.fn();
    schedule(2500, run);
    vi.advanceTimersByTime(2499);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledOnce();
  });

  test('shortens a delay that exceeds the maximum', () => {
    const run = vi.fn();
    schedule(2 ** 31, run);
    vi.advanceTimersByTime(2 ** 31 - 2);
    expect(run).not.toHaveBeenCalled();
  });

  test('never calls the function if the delay is infinite', () => {
    const run = vi.fn();
    schedule(Number.POSITIVE_INFINITY, run)();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('does not call the function after it is cancelled', () => {
    const run = vi.fn();
    schedule(1000, run)();
    vi.advanceTimersByTime(5000);
    expect(run).not.toHaveBeenCalled();
  });
});

test('clocks of one wall clock agree', () => {
  let wall = 1_700_000_000_000;
  const now = (): number => wall;
  const first = monotonicClock(now);
  wall += 1000;
  const second = monotonicClock(now);
  expect([first(), second()]).toEqual([1_700_000_000_000, 1_700_000_000_000]);
  vi.advanceTimersByTime(2500);
  expect([first(), second()]).toEqual([1_700_000_002_500, 1_700_000_002_500]);
});
