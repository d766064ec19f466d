/** The cold tier of one session in memory, bounded: where nothing is written to a disk, something has to give. */
import { takingOldest } from './oldest.js';
import { type ColdEntry, DELETED } from './store.js';

/** What became of a value that had to go: to whoever looks it up, it has expired (E2002). */
const GONE: ColdEntry = { value: 'null', expires: 1 };
/** Keys of such values that are remembered. */
const MAX_GONE = 10_000;

export interface ColdMap {
  readonly size: number;
  readonly get: (key: string) => ColdEntry | undefined;
  readonly has: (key: string) => boolean;
  readonly set: (key: string, entry: ColdEntry) => void;
}

/** @param max characters of all values; the oldest ones go first, but never the newest */
export function boundedCold(max: number): ColdMap {
  const entries = new Map<string, ColdEntry>();
  const gone = new Set<string>();
  const takeOldest = takingOldest(entries);
  const takeOldestGone = takingOldest(gone);
  let used = 0;

  function forgetOldest(): void {
    const [key, entry] = takeOldest()!;
    used -= sizeOf(entry);
    // What was deleted is not there, and has not expired.
    if (entry.expires === DELETED) return;
    gone.add(key);
    if (gone.size > MAX_GONE) takeOldestGone();
  }

  return {
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key) ?? (gone.has(key) ? GONE : undefined),
    has: (key) => entries.has(key) || gone.has(key),
    set(key, entry) {
      const before = entries.get(key);
      used += sizeOf(entry) - (before === undefined ? 0 : sizeOf(before));
      gone.delete(key);
      entries.delete(key);
      entries.set(key, entry);
      while (used > max && entries.size > 1) forgetOldest();
    },
  };
}

/** Asking for the value would make one that need not be there yet. */
function sizeOf(entry: ColdEntry): number {
  return entry.size ?? entry.value.length;
}
