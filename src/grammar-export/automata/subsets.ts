/** Automata that are not deterministic, read along all ways at once. */

/** The states that may come behind one, each with a symbol that leads there. */
export type Moves = (state: number) => Iterable<readonly [symbol: number, to: number]>;

/** What may still be done; it is counted down. */
export interface Budget {
  left: number;
}

/**
 * Returns the sets of states that texts lead to, each once; null where the budget does not suffice for all moves between them. Of
 * alternatives that soon differ, as words do, there is about one set for each character.
 */
export function subsetsOf(
  starts: Iterable<number>,
  movesOf: Moves,
  budget: Budget,
): readonly ReadonlySet<number>[] | null {
  const found = new Map<string, ReadonlySet<number>>();
  const enter = (states: ReadonlySet<number>): void => {
    const key = [...states].sort((a, b) => a - b).join();
    if (!found.has(key)) found.set(key, states);
  };
  enter(new Set(starts));
  for (const states of found.values()) {
    const targets = new Map<number, Set<number>>();
    for (const state of states) {
      for (const [symbol, to] of movesOf(state)) {
        if (budget.left-- <= 0) return null;
        const known = targets.get(symbol);
        if (known === undefined) targets.set(symbol, new Set([to]));
        else known.add(to);
      }
    }
    for (const target of targets.values()) enter(target);
  }
  return [...found.values()];
}
