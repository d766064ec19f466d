/** Quartiles are stable for times, which have long tails; means are not. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

/** Interpolates linearly. @param share from 0 (smallest) to 1 (largest) @throws RangeError on an empty list */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('there is no quantile of nothing');
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below + (above - below) * (place - Math.floor(place));
}

/** Ratios of 2 and 1/2 cancel out. */
export function geometricMean(ratios: readonly number[]): number {
  if (ratios.length === 0) throw new RangeError('there is no mean of nothing');
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}
