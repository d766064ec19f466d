/** Which entries share the rarest terms. */

/** How many entries of one term are followed. */
export const MAX_POSTINGS = 256;

/**
 * Those of the entries with a term that are followed. A word that more of them have tells little: none are. A term that stands
 * for all telling words, which begins with `=`, finds what can serve: the latest are.
 *
 * @param entries all of them, or the latest, and more than `MAX_POSTINGS`; the latest first
 */
export function followed(term: string, entries: readonly number[]): readonly number[] {
  if (entries.length <= MAX_POSTINGS) return entries;
  return term.startsWith('=') ? entries.slice(0, MAX_POSTINGS) : [];
}

/**
 * The numbers of entries, those first that share the rarest terms: a term counts the more, the fewer entries have it. Among equals, the
 * latest come first: what a model did badly, it may have learnt since.
 *
 * @param postings for each term the entries that have it
 */
export function byRarity(postings: readonly (readonly number[])[]): readonly number[] {
  const weights = new Map<number, number>();
  for (const entries of postings) {
    const weight = 1 / entries.length;
    for (const entry of entries) weights.set(entry, (weights.get(entry) ?? 0) + weight);
  }
  return [...weights].sort(([a, weightA], [b, weightB]) => weightB - weightA || b - a).map(([entry]) => entry);
}
