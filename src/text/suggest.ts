/**
 * Returns the candidate nearest to a misspelt word, or `undefined` if more than a third of the word (at least one character) would
 * have to change. The distance is Damerau-Levenshtein, ignoring case.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  // A long word is not a misspelling, and a single letter is near to every other letter.
  if (word.length < 2 || word.length > 64) return undefined;
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    // Each extra character counts as a change.
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(lower, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns `did you mean "x"?`, or a list of all candidates if none is near. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? `the choices are ${candidates.join(', ')}` : `did you mean "${near}"?`;
}

/** Returns the optimal string alignment distance, or `limit` if it is not below; O(a.length * b.length), three rows. */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = [];
  let lastMinimum = 0;
  let last = [0];
  for (let j = 1; j <= b.length; j++) last.push(j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let minimum = i;
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let cell = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cell = Math.min(cell, beforeLast[j - 2]! + 1);
      row.push(cell);
      minimum = Math.min(minimum, cell);
    }
    // Once two rows are at the limit, later rows cannot be below it.
    if (minimum >= limit && lastMinimum >= limit) return limit;
    beforeLast = last;
    last = row;
    lastMinimum = minimum;
  }
  return Math.min(last[b.length]!, limit);
}
