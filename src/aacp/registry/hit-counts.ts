/** Hits that were counted and are not yet written: writing each one would take far longer than serving it. */

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
