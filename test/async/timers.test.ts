import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { after, afterUnref, every, everyUnref, monotonicClock } from '../../src/async/timers.js';

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

  test.each([2 ** 31 - 1, 2 ** 31, 2 ** 33])('calls the function after a delay of %d ms, and not before', (delayMs) => {
    const run = vi.fn();
    schedule(delayMs, run);
    vi.advanceTimersByTime(delayMs - 1);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(run).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a delay that exceeds the maximum of a timer can be cancelled', () => {
    const run = vi.fn();
    const cancel = schedule(2 ** 33, run);
    vi.advanceTimersByTime(2 ** 32);
    cancel();
    expect(vi.getTimerCount()).toBe(0);
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

describe.each([
  ['every', every],
  ['everyUnref', everyUnref],
])('%s', (_, repeat) => {
  test.each([1000, 2 ** 31, 2 ** 33])('calls the function at an interval of %d ms', (intervalMs) => {
    const run = vi.fn();
    const stop = repeat(intervalMs, run);
    vi.advanceTimersByTime(intervalMs - 1);
    expect(run).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2 * intervalMs);
    expect(run).toHaveBeenCalledTimes(2);
    stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([1000, 2 ** 31])('an interval of %d ms can be stopped by its function', (intervalMs) => {
    const run = vi.fn(() => stop());
    const stop = repeat(intervalMs, run);
    vi.advanceTimersByTime(3 * intervalMs);
    expect(run).toHaveBeenCalledOnce();
  });

  test('never calls the function if the interval is infinite', () => {
    repeat(Number.POSITIVE_INFINITY, vi.fn())();
    expect(vi.getTimerCount()).toBe(0);
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
