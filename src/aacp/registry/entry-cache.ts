/** The entries that were asked for last, in bounded memory. */

import type { RegistryEntry } from './registry.js';

export interface EntryCache {
  readonly get: (key: string) => RegistryEntry | undefined;
  readonly set: (key: string, entry: RegistryEntry) => void;
  readonly delete: (key: string) => void;
  readonly clear: () => void;
}

/**
 * Two generations: when the younger one is full, it becomes the older one, whose rest is given up. What is asked for moves to
 * the younger one, so that at least the last `size` entries that were asked for are there, and at most twice as many.
 */
export function entryCache(size: number): EntryCache {
  let younger = new Map<string, RegistryEntry>();
  let older = new Map<string, RegistryEntry>();

  function set(key: string, entry: RegistryEntry): void {
    if (younger.size >= size && !younger.has(key)) {
      older = younger;
      younger = new Map();
    }
    younger.set(key, entry);
  }

  return {
    set,
    get(key) {
      const found = younger.get(key);
      if (found !== undefined) return found;
      const old = older.get(key);
      if (old !== undefined) set(key, old);
      return old;
    },
    delete(key) {
      younger.delete(key);
      older.delete(key);
    },
    clear() {
      if (younger.size > 0) younger = new Map();
      if (older.size > 0) older = new Map();
    },
  };
}

/** One entry's hits since they were last written. */
export interface Hits {
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
