/** What is done when so many seconds have gone by. */
import { LONGEST_TIMER } from './longest-timer.js';

/**
 * Does something later; after an infinite time never, and after one that no timer holds as late as one can.
 *
 * @param seconds from 0 on
 * @returns keeps it from being done
 */
export function after(seconds: number, run: () => void): () => void {
  if (seconds === Number.POSITIVE_INFINITY) return () => undefined;
  const timer = setTimeout(run, Math.min(seconds * 1000, LONGEST_TIMER));
  return () => clearTimeout(timer);
}

/** The same, and it keeps no process alive. */
export function afterIdly(seconds: number, run: () => void): () => void {
  if (seconds === Number.POSITIVE_INFINITY) return () => undefined;
  const timer: unknown = setTimeout(run, Math.min(seconds * 1000, LONGEST_TIMER));
  (timer as { readonly unref?: () => void }).unref?.();
  return () => clearTimeout(timer as never);
}
