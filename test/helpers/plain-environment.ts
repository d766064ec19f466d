import process from 'node:process';
import { afterAll, vi } from 'vitest';
import { monotonicClock } from '../../src/async/timers.js';

// Tests must not depend on the terminal in which they run.
for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']) delete process.env[name];

// Files that share a worker share its clocks: that of `Date.now` must start before a file mocks the time, and mocks must end with the file.
monotonicClock(Date.now);
afterAll(() => {
  vi.restoreAllMocks();
});
