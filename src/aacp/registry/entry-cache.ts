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
