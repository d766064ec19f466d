import process from 'node:process';
import { afterAll, vi } from 'vitest';
import { monotonicClock } from '../../src/async/timers.js';

/** What the terminal of whoever runs the tests can do, or is told to do, is no part of them. */
for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']) delete process.env[name];

// Files that share a worker share its clocks: the one of the process must not begin while a file moves time by hand, nor go on doing so.
monotonicClock(Date.now);
afterAll(() => {
  vi.restoreAllMocks();
});
