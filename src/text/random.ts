/** A source of reproducible random numbers, the same on every machine. */
export interface Random {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number;
  /** Returns an integer from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  /** Returns one member of a list. */
  pick<T>(list: readonly T[]): T;
  /** Returns `count` distinct members of a list, in random order. */
  sample<T>(list: readonly T[], count: number): T[];
}

/** Creates a generator of the algorithm mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    pick: (list) => list[integer(0, list.length - 1)]!,
    sample: (list, count) => {
      const rest = [...list];
      return Array.from(
        { length: Math.min(count, rest.length) },
        () => rest.splice(integer(0, rest.length - 1), 1)[0]!,
      );
    },
  };
}
