/**
 * "Did you mean ...?": the candidate nearest to a misspelt word.
 *
 * Distance is Damerau-Levenshtein (insert, delete, replace, swap of neighbours) without regard to case; a candidate counts
 * as near when at most a third of the word, and at least one character, has to change.
 *
 * @returns the nearest candidate, or `undefined` when none is near.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  // A word this long is no slip of the pen; comparing it would only cost time.
  if (word.length === 0 || word.length > 64) return undefined;
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(lower, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Optimal string alignment distance, in O(a.length * b.length) with three rows. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last: number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, beforeLast[j - 2]! + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
