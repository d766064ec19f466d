/** Timers of any length, the monotonic clock, and turns of the event loop. */

/** The longest delay of a timer, in milliseconds; a longer one would fire at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Calls a function later. A delay that no timer holds is shortened to the longest one; an infinite delay never ends.
 *
 * @param ms milliseconds, at least 0
 * @returns cancels the call
 */
export function after(ms: number, run: () => void): () => void {
  if (ms === Number.POSITIVE_INFINITY) return () => undefined;
  const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER));
  return () => clearTimeout(timer);
}

/** Calls a function later, as {@link after}; the timer does not keep the process alive. */
export function afterUnref(ms: number, run: () => void): () => void {
  if (ms === Number.POSITIVE_INFINITY) return () => undefined;
  const timer: unknown = setTimeout(run, Math.min(ms, LONGEST_TIMER));
  (timer as { readonly unref?: () => void }).unref?.();
  return () => clearTimeout(timer as never);
}

/**
 * Calls a function again and again.
 *
 * @param ms milliseconds between two calls
 * @returns stops it
 */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, Math.min(ms, LONGEST_TIMER));
  return () => clearInterval(timer);
}

/** The delay before an attempt that follows failed ones: it doubles with each of them. @param failures at least 1 */
export function backoff(
  failures: number,
  { minDelayMs, maxDelayMs }: { readonly minDelayMs: number; readonly maxDelayMs: number },
): number {
  return Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(failures - 1, 30));
}

/** A random share of a delay, from half of it to all of it: peers that were cut off at once do not all come back at once. */
export function withJitter(delay: number): number {
  return delay * (1 - Math.random() / 2);
}

const starts = new WeakMap<() => number, { readonly wall: number; readonly from: number }>();

/**
 * Makes a clock that starts with the time of a wall clock and goes on by the monotonic clock of the platform, which no jump of the wall clock
 * moves. All clocks of one wall clock start at the first call with it, so that their times can be compared.
 *
 * @param now the wall clock
 * @param unitMs milliseconds of its unit: 1000 for a clock of seconds
 */
export function monotonicClock(now: () => number, unitMs = 1): () => number {
  let start = starts.get(now);
  if (start === undefined) {
    start = { wall: now(), from: performance.now() };
    starts.set(now, start);
  }
  const { wall, from } = start;
  return () => wall + Math.floor(performance.now() - from) / unitMs;
}

interface Platform {
  readonly setImmediate?: (run: () => void) => unknown;
  readonly MessageChannel: new () => {
    readonly port1: { onmessage: (() => void) | null; readonly close: () => void };
    readonly port2: { readonly postMessage: (value: null) => void };
  };
}

/** Calls a function in the next turn of the event loop. Browsers have no `setImmediate`, and their timers wait for milliseconds. */
export function nextTurn(run: () => void): void {
  const { setImmediate, MessageChannel } = globalThis as unknown as Platform;
  if (setImmediate !== undefined) {
    setImmediate(run);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    run();
  };
  port2.postMessage(null);
}
