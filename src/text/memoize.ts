/** Returns a function that caches the results of `compute`. A cache of `maxEntries` is emptied; texts longer than `maxLength` are not cached. */
export function memoize<T extends object | number>(
  compute: (text: string) => T,
  maxEntries: number,
  maxLength = Number.POSITIVE_INFINITY,
) {
  const cache = new Map<string, T>();
  return (text: string): T => {
    const cached = cache.get(text);
    if (cached !== undefined) return cached;
    const result = compute(text);
    if (cache.size >= maxEntries) cache.clear();
    if (text.length <= maxLength) cache.set(text, result);
    return result;
  };
}
