/** Which entries in memory were not seen for the longest time. */

/** What is seen now and then. */
export interface Seen {
  /** Rises each time that anything is seen; 0 for what has gone. */
  turn: number;
}

export interface Recency<Item extends Seen> {
  /** Notes that an item is seen. Costs the same whatever their number: they are sorted only when some have to go. */
  readonly touch: (item: Item) => void;
  /** The item that was not seen for the longest time, of those that are left; each is given once. */
  readonly oldest: () => Item | undefined;
}

/** Most items that are noted at a time as those to go next. */
const AHEAD = 4096;

/** @param all the items that have not gone */
export function recency<Item extends Seen>(all: () => Iterable<Item>): Recency<Item> {
  let turns = 0;
  /** The oldest ones as they were when they were looked for, the very oldest last. */
  let next: { readonly item: Item; readonly turn: number }[] = [];

  function lookAgain(): void {
    const sorted = Array.from(all(), (item) => ({ item, turn: item.turn })).sort((a, b) => a.turn - b.turn);
    next = sorted.slice(0, AHEAD).reverse();
  }

  return {
    touch(item) {
      item.turn = ++turns;
    },
    oldest() {
      for (let looked = false; ; ) {
        const last = next.pop();
        // Those that were seen since are younger than all that are noted.
        if (last !== undefined && last.item.turn === last.turn) return last.item;
        if (last !== undefined) continue;
        if (looked) return undefined;
        lookAgain();
        looked = true;
      }
    },
  };
}
