/** Middle and spread of repeated measurements. Times have long tails upwards: quartiles stand firm where means do not. */
export interface Spread {
  readonly median: number;
  /** A quarter of the values lie below. */
  readonly low: number;
  /** A quarter of the values lie above. */
  readonly high: number;
}

/** @throws RangeError on an empty list */
export function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

/**
 * The value that a share of all values does not exceed, between two of them in proportion.
 *
 * @param share from 0 (the smallest) to 1 (the largest)
 * @throws RangeError on an empty list
 */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('there is no quantile of nothing');
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below + (above - below) * (place - Math.floor(place));
}

/** The mean of ratios: twice as fast and half as fast cancel out. */
export function geometricMean(ratios: readonly number[]): number {
  if (ratios.length === 0) throw new RangeError('there is no mean of nothing');
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}
