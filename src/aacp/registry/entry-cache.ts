/** The entries that were asked for last, in bounded memory. */

import type { RegistryEntry } from './registry.js';

interface EntryCache {
  readonly get: (key: string) => RegistryEntry | undefined;
  readonly set: (key: string, entry: RegistryEntry) => void;
  readonly delete: (key: string) => void;
  readonly clear: () => void;
}

/** The last `size` entries that were asked for. */
export function entryCache(size: number): EntryCache {
  const entries = new Map<string, RegistryEntry>();

  function set(key: string, entry: RegistryEntry): void {
    // Behind all others: the first one is the one that was not asked for the longest time.
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > size) entries.delete(entries.keys().next().value!);
  }

  return {
    set,
    get(key) {
      const found = entries.get(key);
      if (found !== undefined) set(key, found);
      return found;
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}

/** One entry's hits since they were last written. */
interface Hits {
  readonly times: number;
  /** When it was last hit, in milliseconds since 1970. */
  readonly last: number;
}

/** Milliseconds after which they are written. What was counted in that time may be lost when the process is killed. */
const MAX_WAIT = 1000;

/** Entries after which they are written all the same. */
const MAX_ENTRIES = 4096;

export interface HitCounts {
  readonly add: (key: string, now: number) => void;
  /** Whether it is time to write them. */
  readonly isDue: (now: number) => boolean;
  readonly isEmpty: () => boolean;
  readonly all: () => Iterable<readonly [key: string, hits: Hits]>;
  /** To be called once they are written. */
  readonly clear: () => void;
}

export function hitCounts(): HitCounts {
  const counts = new Map<string, Hits>();
  let since = 0;
  return {
    add(key, now) {
      if (counts.size === 0) since = now;
      counts.set(key, { times: (counts.get(key)?.times ?? 0) + 1, last: now });
    },
    // A clock that was set back is no reason to wait for longer.
    isDue: (now) => counts.size > 0 && (counts.size >= MAX_ENTRIES || Math.abs(now - since) >= MAX_WAIT),
    isEmpty: () => counts.size === 0,
    all: () => counts,
    clear: () => counts.clear(),
  };
}
