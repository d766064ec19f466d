/** Timers of any length, the monotonic clock, and the event loop. */

/** The maximum delay of `setTimeout` and `setInterval` in milliseconds. With a longer delay, they fire immediately. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Calls a function after a delay of any length; after `Infinity`, it is never called.
 *
 * @param delayMs non-negative number of milliseconds
 * @returns a function that cancels the call
 */
export function after(delayMs: number, run: () => void): () => void {
  return schedule(delayMs, run, () => undefined);
}

/** Calls a function after a delay, as {@link after} does, but does not keep the process alive. */
export function afterUnref(delayMs: number, run: () => void): () => void {
  return schedule(delayMs, run, unref);
}

function schedule(delayMs: number, run: () => void, prepare: (timer: unknown) => void): () => void {
  if (delayMs === Number.POSITIVE_INFINITY) return () => undefined;
  let timer: ReturnType<typeof setTimeout>;
  const start = (remainingMs: number): void => {
    const next = remainingMs > LONGEST_TIMER ? () => start(remainingMs - LONGEST_TIMER) : run;
    timer = setTimeout(next, Math.min(remainingMs, LONGEST_TIMER));
    prepare(timer);
  };
  start(delayMs);
  return () => clearTimeout(timer);
}

/**
 * Calls a function at an interval of any length; with `Infinity`, it is never called.
 *
 * @param intervalMs milliseconds between two calls
 * @returns a function that stops the calls
 */
export function every(intervalMs: number, run: () => void): () => void {
  return repeat(intervalMs, run, () => undefined);
}

/** Calls a function at an interval, as {@link every} does, but does not keep the process alive. */
export function everyUnref(intervalMs: number, run: () => void): () => void {
  return repeat(intervalMs, run, unref);
}

function repeat(intervalMs: number, run: () => void, prepare: (timer: unknown) => void): () => void {
  if (intervalMs > LONGEST_TIMER) {
    let stop = (): void => undefined;
    const start = (): void => {
      const next = (): void => {
        start();
        run();
      };
      stop = schedule(intervalMs, next, prepare);
    };
    start();
    return () => stop();
  }
  const timer = setInterval(run, intervalMs);
  prepare(timer);
  return () => clearInterval(timer);
}

/** Lets the process end while the timer waits. Browsers have no `unref`. */
function unref(timer: unknown): void {
  (timer as { readonly unref?: () => void }).unref?.();
}

/** Returns the delay before the next attempt, which doubles with each failed one. @param failures at least 1 */
export function backoff(
  failures: number,
  { minDelayMs, maxDelayMs }: { readonly minDelayMs: number; readonly maxDelayMs: number },
): number {
  return Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(failures - 1, 30));
}

/** Returns a random delay between half of `delayMs` and all of it, so that peers do not all reconnect at the same time. */
export function withJitter(delayMs: number): number {
  return delayMs * (1 - Math.random() / 2);
}

const starts = new WeakMap<() => number, { readonly wall: number; readonly monotonic: number }>();

/**
 * Creates a clock that starts at the time of a wall clock and then follows the monotonic clock of the platform, unaffected by jumps of the
 * wall clock. All clocks of one wall clock share their start, so that their times can be compared.
 *
 * @param now the wall clock, in milliseconds
 */
export function monotonicClock(now: () => number): () => number {
  let start = starts.get(now);
  if (start === undefined) {
    start = { wall: now(), monotonic: performance.now() };
    starts.set(now, start);
  }
  const { wall, monotonic } = start;
  return () => wall + Math.floor(performance.now() - monotonic);
}

interface Platform {
  readonly setImmediate?: (run: () => void) => unknown;
  readonly MessageChannel: new () => {
    readonly port1: { onmessage: (() => void) | null; readonly close: () => void };
    readonly port2: { readonly postMessage: (value: null) => void };
  };
}

/** Calls a function in the next iteration of the event loop. Browsers have no `setImmediate`, and clamp timers to milliseconds. */
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
