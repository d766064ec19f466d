/** Which entries share the rarest terms. */

/** Terms that more entries have are not followed: they tell little, and there is no end to them. */
export const MAX_POSTINGS = 256;

/**
 * The numbers of entries, those first that share the rarest terms: a term counts the more, the fewer entries have it. Among equals, those
 * first that came first.
 *
 * @param postings for each term the entries that have it
 */
export function byRarity(postings: readonly (readonly number[])[]): readonly number[] {
  const weights = new Map<number, number>();
  for (const entries of postings) {
    const weight = 1 / entries.length;
    for (const entry of entries) weights.set(entry, (weights.get(entry) ?? 0) + weight);
  }
  return [...weights].sort(([a, weightA], [b, weightB]) => weightB - weightA || a - b).map(([entry]) => entry);
}
