/** Time inside the process, which a jump of the wall clock does not touch. */

const known = new WeakMap<() => number, () => number>();

/**
 * Makes a clock that starts with the time of a wall clock and goes on by the monotonic clock of the platform. All who ask for the same wall
 * clock share one, so that what one of them notes the others can compare.
 *
 * @param now the wall clock
 * @param unitMs milliseconds of its unit: 1000 for a clock of seconds
 */
export function steadyClock(now: () => number, unitMs = 1): () => number {
  let steady = known.get(now);
  if (steady === undefined) {
    const [wall, from] = [now(), performance.now()];
    steady = () => wall + Math.floor(performance.now() - from) / unitMs;
    known.set(now, steady);
  }
  return steady;
}
