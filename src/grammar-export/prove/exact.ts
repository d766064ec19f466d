/** The texts of a regular part exactly as the parser reads them, with all its lookaheads, order and greed. */
import type { Alphabet } from '../automata/alphabet.js';
import { determinized, minimized } from '../automata/dfa.js';
import { createGraph, type Graph } from '../automata/graph.js';
import { patternOf } from '../automata/to-pattern.js';
import type { Pattern } from '../context-free.js';
import { type Column, isOut, isSure } from './machine.js';
import type { Boundaries } from './prover.js';

/** Sets of columns that are looked at. */
const MOST_SETS = 300;

/** Parts of a pattern that somebody should be able to read. */
const LARGEST = 120;

/**
 * A pattern for just the texts that the part takes, if that does not hang on what follows them; null where it does, or where
 * the pattern would be too large.
 */
export function exactPattern({ machine, root, columns }: Boundaries, alphabet: Alphabet): Pattern | null {
  // Texts are read from their ends: a state is a set of columns, one for each way in which a text may be followed.
  const sets: (readonly Column[])[] = [];
  const numbers = new Map<string, number>();
  const graph: Graph = createGraph();
  const numberOf = (found: Iterable<Column>): number => {
    const set = [...new Set(found)].sort((a, b) => a.id - b.id);
    const key = set.map(({ id }) => id).join();
    let number = numbers.get(key);
    if (number === undefined) {
      number = sets.push(set) - 1;
      numbers.set(key, number);
      graph.state();
    }
    return number;
  };
  const start = numberOf(columns);
  const taken: number[] = [];
  for (let state = 0; state < sets.length; state++) {
    if (sets.length > MOST_SETS) return null;
    const set = sets[state]!;
    const takes = set.filter((column) => isSure(column, root)).length;
    const refuses = set.filter((column) => isOut(column, root)).length;
    if (takes !== set.length && refuses !== set.length) return null;
    if (takes > 0) taken.push(state);
    for (let kind = 0; kind < machine.kinds; kind++) {
      const before = numberOf(set.map((column) => machine.step(column, kind).plain));
      // Edges are turned round: the pattern is read from the beginning.
      graph.add(before, { kind: 'symbols', to: state, symbols: [kind], again: false });
    }
  }
  const dfa = determinized(graph, taken, start, MOST_SETS);
  if (dfa === null) return null;
  const symbols = Array.from({ length: alphabet.size }, (_, symbol) => symbol);
  return patternOf(
    minimized(dfa),
    (kinds) => {
      const wanted = new Set(kinds);
      return alphabet.rangesOf(symbols.filter((symbol) => wanted.has(machine.kindOf(symbol))));
    },
    LARGEST,
  );
}
