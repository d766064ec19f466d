/** The entries that were asked for last, and the hits that are not written yet. */

import type { RegistryEntry } from './registry.js';

/** Keeps the last `size` entries that were asked for. */
export function entryCache(size: number) {
  const entries = new Map<string, RegistryEntry>();

  function set(key: string, entry: RegistryEntry): void {
    // Behind all others: the first one is the least recently used.
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > size) entries.delete(entries.keys().next().value!);
  }

  return {
    set,
    get(key: string) {
      const found = entries.get(key);
      if (found !== undefined) set(key, found);
      return found;
    },
    delete: (key: string) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}

/** Milliseconds after which hits are written: those that a killed process loses. */
const MAX_WAIT = 1000;

/** Entries with hits after which they are written earlier. */
const MAX_ENTRIES = 4096;

export type HitCounts = ReturnType<typeof hitCounts>;

/** Counts hits by key. */
export function hitCounts() {
  const counts = new Map<string, { readonly times: number; readonly last: number }>();
  let since = 0;
  return {
    add(key: string, now: number): void {
      if (counts.size === 0) since = now;
      counts.set(key, { times: (counts.get(key)?.times ?? 0) + 1, last: now });
    },
    // The absolute value: the clock may have been set back.
    isDue: (now: number) => counts.size > 0 && (counts.size >= MAX_ENTRIES || Math.abs(now - since) >= MAX_WAIT),
    isEmpty: () => counts.size === 0,
    all: (): ReadonlyMap<string, { readonly times: number; readonly last: number }> => counts,
    clear: () => counts.clear(),
  };
}
